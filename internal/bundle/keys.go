package bundle

import "github.com/svcctl/svcctl/internal/svc"

// Keys returns the keys under which the object of a version's bundle can be stored, in
// order of preference [D40]: uploads have the first one, and pipelines may store a
// bundle under either. Below ARTIFACTS_DIR they are paths with slashes. Readers detect
// the compression from the first bytes.
func Keys(ref svc.Ref) [2]string {
	return [2]string{ref.String() + "/bundle.tar.zst", ref.String() + "/bundle.tar.gz"}
}

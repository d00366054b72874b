package daemon

import (
	"cmp"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// layout has the paths of files in the data directory.
type layout struct {
	data *dataDir
	run  string // sockets
	// pass is the directory for those of versions whose workerds have users of their own; "" for one in run.
	pass string
}

func (l layout) objectStore() string { return l.data.sub("object-store") }
func (l layout) storeSocket() string { return filepath.Join(l.run, "s3.sock") }
func (l layout) cache() string       { return l.data.sub("cache") }    // unpacked bundles; may be deleted while the daemon is stopped
func (l layout) versions() string    { return l.data.sub("versions") } // cached data of versions
func (l layout) logs() string        { return l.data.sub("logs") }

// runtimes is for the sockets of versions.
func (l layout) runtimes() string { return cmp.Or(l.pass, filepath.Join(l.run, "v")) }

func (l layout) versionLogs(ref svc.Ref) string {
	return filepath.Join(l.logs(), ref.Project, ref.Version)
}

// bundle is where deploy unpacks the bundle of a version.
func (l layout) bundle(ref svc.Ref) string { return filepath.Join(l.cache(), ref.Project, ref.Version) }

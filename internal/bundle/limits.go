package bundle

import "cmp"

// Limits bound what Extract accepts [D42]. A field of 0 means its default.
type Limits struct {
	Modules int64 // bytes of all modules together
	Asset   int64 // bytes of one asset
	Total   int64 // bytes of all files together, unpacked
	Files   int   // assets, and as many other entries
}

// The default limits. spec: [D42]; they are close to what Cloudflare accepts.
const (
	DefaultModuleBytes = 64 << 20
	DefaultAssetBytes  = 25 << 20
	DefaultTotalBytes  = 512 << 20
	DefaultFiles       = 20_000
)

const (
	// maxManifest bounds manifest.json; a manifest of 20,000 files is smaller.
	maxManifest = 8 << 20
	// maxWindow bounds the memory of the zstd decoder. `zstd -19` uses 8 MiB.
	maxWindow = 8 << 20
	minWindow = 256 << 10 // a smaller one saves nothing more
	// maxTail bounds the zero padding after the archive.
	maxTail = 1 << 20
)

func (l Limits) orDefault() Limits {
	return Limits{
		Modules: cmp.Or(l.Modules, DefaultModuleBytes), Asset: cmp.Or(l.Asset, DefaultAssetBytes),
		Total: cmp.Or(l.Total, DefaultTotalBytes), Files: cmp.Or(l.Files, DefaultFiles),
	}
}

// stream is the limit for the tar itself: the files, and for each entry its headers
// and padding.
func (l Limits) stream() int64 {
	return l.Total + 2*int64(l.Files)*2048 + 2*maxTail
}

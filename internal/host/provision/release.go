package provision

import (
	"runtime"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Release is one version of workerd and where npm has it.
type Release struct {
	Version     string             // of the npm packages
	VersionLine string             // what the binary prints for --version
	Packages    map[string]Package // by platform: "linux/amd64"
}

// Package is the npm package of one platform.
type Package struct {
	Name      string
	Integrity string // "sha512-" and the base64 digest of its tarball; "" to take the registry's
	Binary    string // the same of the program in it; "" if that is not known
}

// Pinned is the release this program is made for. For macOS the program has no digest:
// that of the registry is checked, recorded and shown. A platform that is not in it is
// served by setting SVC_WORKERD alone.
func Pinned() Release {
	return Release{
		Version:     workerd.Version,
		VersionLine: workerd.VersionLine,
		Packages: map[string]Package{
			"linux/amd64": {
				Name:      "@cloudflare/workerd-linux-64",
				Integrity: "sha512-gZLA8X11m/luZwn+YA3+mDu61vdxNJzpksP/QZqjydKTQ+VUCulsK5gtn9Bqst1p3KJu2kafQpJ1nDQv4B23jA==",
				Binary:    "sha512-qZyQzvdWZyIqia5lNd5qbiQ+rnFwuGSyyUwq2zCvGuHaWGEsbaZzjiGUJvVSAPRyCFWl25Zf/z9gu2WRekJhvg==",
			},
			"linux/arm64": {
				Name:      "@cloudflare/workerd-linux-arm64",
				Integrity: "sha512-gxWngFojq41ULKNKb9rpWYvKotN5hT2I/xot+Bpy31cXzrwcTgtDLSMb2t75sW5BJxH7hihFvikgYb577kB3Zg==",
				Binary:    "sha512-I/vjye/7061zxH9hpVWlznOIxuD0Pl/3DcJjkqMZXz4eYw/emAQKRHgRJ5jZnPjlKlUGj+mnpLVo4LVkLE7BkA==",
			},
			"darwin/amd64": {Name: "@cloudflare/workerd-darwin-64"},
			"darwin/arm64": {Name: "@cloudflare/workerd-darwin-arm64"},
		},
	}
}

// thisPlatform is the key of Release.Packages for this machine.
const thisPlatform = runtime.GOOS + "/" + runtime.GOARCH

// pkg is the package for a platform.
func (r Release) pkg(platform string) (Package, error) {
	p, ok := r.Packages[platform]
	if !ok {
		return Package{}, svc.Errorf(svc.Unavailable, svc.CodeWorkerdPlatformUnsupported,
			"workerd %s cannot be installed on %s: there is no package for it", r.Version, platform).
			WithHint("install workerd %s yourself and set SVC_WORKERD to its path", r.Version)
	}
	return p, nil
}

package bundle

import "github.com/svcctl/svcctl/internal/svc"

// Release are the settings of releases that a project file makes (its section svcctl). The server
// follows those of production's bundle.
type Release struct {
	Check      string `json:"check,omitempty"`       // path that must answer 2xx before a release is done; "" for none
	AssetsKeep *int   `json:"assets_keep,omitempty"` // releases whose static files with a hash in the name stay served; nil for none
	Guard      string `json:"guard,omitempty"`       // GuardRefuse, or "" for the project's setting

	History *History `json:"history,omitempty"` // nil for the server's
}

// GuardRefuse refuses promotes that leave writes behind.
const GuardRefuse = "refuse"

// MaxAssetsKeep is the largest Release.AssetsKeep.
const MaxAssetsKeep = 20

// Guards reports whether the bundle asks for the guard of its project.
func (m Manifest) Guards() bool { return m.Release != nil && m.Release.Guard == GuardRefuse }

// release checks Manifest.Release.
func (p *problems) release(m Manifest) {
	r := m.Release
	if r == nil {
		return
	}
	if err := svc.CheckReleasePath(r.Check); err != nil {
		p.add("/release/check", svc.CodeManifestInvalid, "%s", err)
	}
	if r.AssetsKeep != nil && (*r.AssetsKeep < 0 || *r.AssetsKeep > MaxAssetsKeep) {
		p.add("/release/assets_keep", svc.CodeManifestInvalid, "want 0 to %d", MaxAssetsKeep)
	}
	p.history(r.History)
	if r.Guard != "" && r.Guard != GuardRefuse {
		p.add("/release/guard", svc.CodeManifestInvalid, "want %q, or no guard", GuardRefuse)
	}
}

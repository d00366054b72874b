package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/svc"
)

// place changes a spec of the daemon to one of this machine, and makes its bundle and its
// directories ready. mark identifies the spec as the daemon knows it.
func (s *session) place(ctx context.Context, spec *svc.RuntimeSpec) (mark string, err error) {
	if mark, err = join.Mark(*spec); err != nil {
		return "", err
	}
	s.own(spec)
	spec.Local.BundleDir, err = s.bundle(ctx, spec)
	if err == nil {
		err = os.MkdirAll(spec.Local.DataDir, 0o700)
	}
	if err == nil {
		err = touch(spec.Local.DataDir)
	}
	return mark, err
}

// own sets the owner of the data, which is this machine, its directories, and the address of
// the object store.
func (s *session) own(spec *svc.RuntimeSpec) {
	warm := spec.Local.Warm
	spec.Local = svc.LocalSpec{DataDir: s.sub("versions", spec.Ref.Project, spec.Ref.Version), LogDir: s.sub("logs", s.id)}
	if path, ok := strings.CutPrefix(warm, s.machine+warmOf); ok {
		spec.Local.Warm = path
	}
	st := &spec.Host.Storage
	st.Owner = st.Owner.On(s.machine)
	st.Endpoint = reachable(st.Endpoint, s.cfg.Daemon)
}

// reachable returns the address of an object store that listens at all addresses of the
// daemon's machine as one of this machine's view.
func reachable(endpoint, daemon string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsUnspecified() {
		return endpoint
	}
	host, _, err := net.SplitHostPort(daemon)
	if err != nil {
		return endpoint
	}
	u.Host = net.JoinHostPort(host, u.Port())
	return u.String()
}

// bundle returns the directory of the unpacked bundle.
func (s *session) bundle(ctx context.Context, spec *svc.RuntimeSpec) (string, error) {
	digest := strings.TrimPrefix(spec.Digest, "sha256:")
	if digest == "" || strings.ContainsAny(digest, "/.") {
		return "", svc.Errorf(svc.Unavailable, svc.CodeHostBundle, "the bundle of %s has no digest by which a machine could fetch it", spec.Ref)
	}
	dir := s.sub("bundles", spec.Ref.Project, spec.Ref.Version+"-"+digest)
	s.unpacking.Lock()
	defer s.unpacking.Unlock()
	if touch(dir) == nil {
		return dir, nil
	}
	if err := os.MkdirAll(s.sub("bundles", spec.Ref.Project), 0o700); err != nil {
		return "", err
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	if err := s.cfg.Unpack(ctx, spec.Host.Storage, spec.Ref, spec.Digest, part); err != nil {
		if errors.As(err, new(*svc.Error)) {
			return "", err
		}
		return "", svc.Errorf(svc.Unavailable, svc.CodeHostBundle, "the machine %s cannot read the bundle of %s", s.cfg.Name, spec.Ref).
			WithHint("check that the machine reaches the object store").Because(err)
	}
	if err := os.Rename(part, dir); err != nil {
		return "", fmt.Errorf("keeping the bundle: %w", err)
	}
	return dir, nil
}

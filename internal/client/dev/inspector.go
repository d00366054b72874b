package dev

import (
	"cmp"
	"context"
	"net"
	"strconv"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/inspect"
	"github.com/svcctl/svcctl/pkg/api"
)

// workerSession is the name of the worker at workerd's inspector.
const workerSession = "worker"

// openInspector takes the port for debuggers, if they can attach.
func (s *Session) openInspector(ctx context.Context) (err error) {
	if !s.cfg.Inspect {
		return nil
	}
	s.inspector = inspect.New(s.cfg.Logger)
	s.inspectorAt, err = listen(ctx, portFlag{"--inspect", s.cfg.InspectAt, s.cfg.AnyInspectAt}, s.inspector, s.cfg.Logger)
	return err
}

func (s *Session) closeInspector() {
	if s.inspector != nil {
		s.inspector.Close()
	}
	if s.inspectorAt != nil {
		s.inspectorAt.close()
	}
}

// inspect has debuggers attach to a version. b is its build, nil if that is not known.
func (w *worker) inspect(v api.Version, b *build.Result) {
	if w.inspector == nil || w.server.Inspector == nil {
		return
	}
	t := inspect.Target{Title: w.project, File: w.root, Session: workerSession, Address: func() string { return w.server.Inspector(v) }}
	if b != nil {
		t.File, t.Scripts = cmp.Or(b.Config.Main, w.root), scripts(w.root, b)
	}
	w.inspector.Switch(w.project, t)
}

func scripts(root string, b *build.Result) inspect.Scripts {
	maps := map[string][]byte{}
	for _, m := range b.Modules {
		if m.SourceMap != nil {
			maps[m.Name] = m.SourceMap
		}
	}
	return inspect.Scripts{Root: root, Maps: maps}
}

// host is the address as debuggers name it.
func (a *address) host() string { return net.JoinHostPort("localhost", strconv.Itoa(a.port)) }

package remote

import (
	"context"

	"github.com/svcctl/svcctl/internal/client/tui/state"
)

// setVar sets or deletes one override and keeps the others. It fails if the environment
// changes meanwhile.
func (r *Remote) setVar(ctx context.Context, a state.Action) (string, error) {
	env, err := r.c.Env(ctx, a.Project, a.Version)
	if err != nil {
		return "", err
	}
	arg := state.SplitArg(a.Arg, 2)
	vars, note := env.Overrides(), arg[0]+" of "+a.Target()
	if a.Verb == state.SetVar {
		vars[arg[0]] = arg[1]
		note += " set"
	} else {
		delete(vars, arg[0])
		note += " unset"
	}
	_, err = r.c.SetEnv(ctx, a.Project, a.Version, vars, env.ETag)
	return note, err
}

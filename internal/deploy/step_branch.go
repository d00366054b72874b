package deploy

import "context"

// branch gives the version its data. A root version starts with what its
// bundle's migrations make, so there is nothing to branch from; Submit takes no
// other. spec: What the service does, 9.
func (r *run) branch(context.Context) (string, error) { return "root version: nothing to branch", nil }

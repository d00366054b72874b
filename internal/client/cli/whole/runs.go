package whole

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
)

// Runs are what the commands do. A program sets all fields of the groups that it adds.
type Runs struct {
	// Commands
	Serve   func(context.Context, *kit.Kit, config.Source) error
	Host    func(context.Context, *kit.Kit, Host) error
	Gateway func(context.Context, *kit.Kit, Gateway) error
	Install func(context.Context, *kit.Kit, Install) error
	Path    func(context.Context, *kit.Kit) error
	Workerd func(*kit.Kit) error // prints the pinned version
	Demo    func(context.Context, *kit.Kit) error

	// Admin
	Backup  func(ctx context.Context, k *kit.Kit, p Place, to string) error
	Restore func(context.Context, *kit.Kit, Restore) error
	Verify  func(context.Context, *kit.Kit, Place) error
	Key     func(*kit.Kit, Place) error
	Token   func(k *kit.Kit, p Place, rotate bool) error
}

// Commands run a server, or a part of one.
func (r Runs) Commands(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{r.serve(k), r.host(k), r.gateway(k), r.runtime(k)}
}

// Admin works on the files of the server on this machine.
func (r Runs) Admin(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{r.backup(k), r.restore(k), r.verify(k), r.key(k), r.hosts(k)}
}

// Handed gives every command line to become, which starts the whole program in place of this one.
func Handed(become func(*kit.Kit) error) Runs {
	return Runs{
		Serve:   func(_ context.Context, k *kit.Kit, _ config.Source) error { return become(k) },
		Host:    func(_ context.Context, k *kit.Kit, _ Host) error { return become(k) },
		Gateway: func(_ context.Context, k *kit.Kit, _ Gateway) error { return become(k) },
		Install: func(_ context.Context, k *kit.Kit, _ Install) error { return become(k) },
		Path:    func(_ context.Context, k *kit.Kit) error { return become(k) },
		Workerd: become,
		Demo:    func(_ context.Context, k *kit.Kit) error { return become(k) },
		Backup:  func(_ context.Context, k *kit.Kit, _ Place, _ string) error { return become(k) },
		Restore: func(_ context.Context, k *kit.Kit, _ Restore) error { return become(k) },
		Verify:  func(_ context.Context, k *kit.Kit, _ Place) error { return become(k) },
		Key:     func(k *kit.Kit, _ Place) error { return become(k) },
		Token:   func(k *kit.Kit, _ Place, _ bool) error { return become(k) },
	}
}

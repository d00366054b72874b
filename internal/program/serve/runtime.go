package serve

import (
	"context"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

func printWorkerd(k *kit.Kit) error {
	return k.Print(map[string]string{"workerd": workerd.Version}, func() { k.Printf("%s", workerd.Version) })
}

func install(ctx context.Context, k *kit.Kit, i whole.Install) error {
	return find(ctx, k, provision.Ensure, func(o *provision.Options) {
		if o.Platform = i.Platform; i.Dir != "" {
			*o = provision.Options{CacheDir: i.Dir, Platform: i.Platform, Progress: o.Progress}
		}
	})
}

func path(ctx context.Context, k *kit.Kit) error {
	return find(ctx, k, provision.Find, func(*provision.Options) {})
}

// Workerd returns the path of the pinned workerd, and installs it if it is missing.
func Workerd(ctx context.Context, k *kit.Kit) (string, error) {
	cfg, err := config.LoadDaemon(config.Source{Environ: k.Environ})
	if err != nil {
		return "", kit.Usagef("%v", err)
	}
	return provision.Ensure(ctx, daemon.WorkerdOptions(cfg, func(stage string) { k.Notef("%s", stage) }))
}

type finder func(context.Context, provision.Options) (string, error)

func find(ctx context.Context, k *kit.Kit, find finder, change func(*provision.Options)) error {
	cfg, err := config.LoadDaemon(config.Source{Environ: k.Environ})
	if err != nil {
		return kit.Usagef("%v", err)
	}
	progress := k.NewProgress()
	defer progress.Abort()
	o := daemon.WorkerdOptions(cfg, progress.Stage)
	change(&o)
	if o.Platform != "" && o.CacheDir == cfg.Environment.CacheDir {
		return kit.Usagef("--platform needs --dir: the cache has the workerd of this machine")
	}
	path, err := find(ctx, o)
	if err != nil {
		return err
	}
	progress.Done("")
	return k.Print(map[string]string{"path": path, "version": workerd.Version}, func() { k.Printf("%s", path) })
}

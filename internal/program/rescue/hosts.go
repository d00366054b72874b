package rescue

import (
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

func hostToken(k *kit.Kit, p whole.Place, rotate bool) error {
	cfg, err := settings(k, p)
	if err != nil {
		return err
	}
	token, err := daemon.HostToken(cfg, rotate)
	if err != nil {
		return err
	}
	return k.Print(map[string]string{"token": token}, func() { k.Printf("%s", token) })
}

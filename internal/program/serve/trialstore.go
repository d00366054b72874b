package serve

import (
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/svc"
)

// newTrialStore runs the embedded object store by itself: the trial store of the manifests for Kubernetes.
func newTrialStore(k *kit.Kit) *cobra.Command {
	var dir, listen string
	cmd := &cobra.Command{
		Use: "trial-store", Hidden: true, Short: "Run an object store for a trial on Kubernetes", Args: cobra.NoArgs,
		Long: "Serves an object store on a directory until SIGTERM, with the keys in S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a := s3server.Alone{
				Dir: dir, Address: listen, Region: variable(k, "S3_REGION"), AccessKey: variable(k, "S3_ACCESS_KEY_ID"),
				SecretKey: svc.Secret(variable(k, "S3_SECRET_ACCESS_KEY")), Listening: func(at net.Addr) { k.Printf("S3         http://%s", at) },
			}
			if a.AccessKey == "" || a.SecretKey == "" {
				return kit.Usagef("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are required")
			}
			return s3server.RunAlone(cmd.Context(), a)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "store", "directory of the objects")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:9000", "address, host:port")
	return cmd
}

// variable is a variable of the environment; "" if it is not set.
func variable(k *kit.Kit, name string) string {
	for _, v := range k.Environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

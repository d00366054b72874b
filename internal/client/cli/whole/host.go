package whole

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Host are the flags of svcctl host.
type Host struct {
	Join, TokenFile, CAFile, Dir, Workerd, Name, Machine, Listen, Address string

	Seats int
	Drain time.Duration
}

func (r Runs) host(k *kit.Kit) *cobra.Command {
	var h Host
	cmd := &cobra.Command{
		Use: "host --join URL --token-file FILE", Short: "Run versions on this machine for a server on another one", Args: cobra.NoArgs,
		Long: "Joins a server that has SVC_RUNTIME=remote or kubernetes, and runs versions for it until SIGTERM or Ctrl-C. " +
			"svcctl admin hosts token prints the token on the machine of the server. Each seat runs one version, or waits for one. " +
			"When the server is away the versions serve on, and the machine dials again. " +
			"The machine has to reach the object store of the server.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.Host(cmd.Context(), k, h) },
	}
	f := cmd.Flags()
	f.StringVar(&h.Join, "join", "", "address of the server, https://HOST:PORT, as in its SVC_HOSTS_ADDR")
	f.StringVar(&h.TokenFile, "token-file", "", "file with the join token; with --ca-file, with the service account token of the pod, read again for each connection")
	f.StringVar(&h.CAFile, "ca-file", "", "PEM file of the certificate authority of the server, in a pod of Kubernetes")
	f.StringVar(&h.Dir, "data", "svcd-host", "directory of bundles and data")
	f.StringVar(&h.Workerd, "workerd", "", "path of workerd (default: the pinned one, which is installed if it is missing)")
	f.StringVar(&h.Name, "name", "", "name of the machine in svcctl nodes (default: its host name)")
	f.StringVar(&h.Machine, "machine-id", "", "identity of the machine: the uid of the pod, with --ca-file (default: one that --data keeps)")
	f.StringVar(&h.Listen, "listen", "", "host:port where gateways on other machines reach the versions of this one; without it their requests pass the server")
	f.StringVar(&h.Address, "address", "", "host name or IP address, with or without a port, where gateways reach --listen (default: the address from which this machine connects to the server)")
	f.IntVar(&h.Seats, "seats", 4, "number of versions that this machine runs at most, spares included")
	f.DurationVar(&h.Drain, "drain", 20*time.Second, "time for the server to move the versions to other machines, after SIGTERM")
	return cmd
}

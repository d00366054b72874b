// Command litestream restores a database with litestream's own code: the independent
// reader in the tests of replica. It links the S3 client alone, because litestream's
// command links the clients of every cloud, which takes minutes to compile.
//
// It is a separate module, so that dependencies of litestream are not those of this
// program. Modules that both need have this program's version, which is compiled
// already.
//
// Usage: litestream URL OUTPUT [TXID], with TXID in hexadecimal digits.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/benbjohnson/litestream"
	_ "github.com/benbjohnson/litestream/s3" // the client of s3:// URLs
	"github.com/superfly/ltx"
)

func main() {
	if err := restore(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "litestream:", err)
		os.Exit(1)
	}
}

func restore(ctx context.Context, args []string) error {
	client, err := litestream.NewReplicaClientFromURL(args[0])
	if err != nil {
		return err
	}
	opt := litestream.NewRestoreOptions()
	opt.OutputPath, opt.IntegrityCheck = args[1], litestream.IntegrityCheckFull
	if len(args) > 2 {
		txid, err := strconv.ParseUint(args[2], 16, 64)
		if err != nil {
			return err
		}
		opt.TXID = ltx.TXID(txid)
	}
	return litestream.NewReplicaWithClient(nil, client).Restore(ctx, opt)
}

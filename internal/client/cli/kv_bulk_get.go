package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

type kvBulkGet struct {
	kvFlags
	prefix string
}

func newKVBulkGet(k *kit.Kit) *cobra.Command {
	var o kvBulkGet
	cmd := &cobra.Command{
		Use: "get [PROJECT/]VERSION [FILE]", Short: "Print many keys with their values", Args: cobra.RangeArgs(1, 2),
		Long: "Prints the keys of a file, or all keys, as JSON lines that svcctl kv bulk put reads. The file is a JSON array or JSON lines of\n" +
			"strings, or of objects with key or name; \"-\" is standard input. Keys that do not exist are left out.",
		Example: "  svcctl kv bulk get shop/v7 > values.jsonl\n  svcctl kv bulk put shop/v8 values.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && o.prefix != "" {
				return kit.Usagef("--prefix and a file exclude each other")
			}
			return o.run(cmd.Context(), k, args)
		},
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.prefix, "prefix", "", "prefix of the keys")
	return cmd
}

// printedPair is an entry as kv bulk put reads it.
type printedPair struct {
	Key        string          `json:"key"`
	Value      string          `json:"value"`
	Base64     bool            `json:"base64,omitempty"`
	Expiration int64           `json:"expiration,omitempty"` // seconds since 1970
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

func (o kvBulkGet) run(ctx context.Context, k *kit.Kit, args []string) error {
	var keys []string
	if len(args) > 1 {
		text, err := k.ReadFile(args[1])
		if err != nil {
			return kit.Usagef("%v", err)
		}
		if err := readPairs(bytes.NewReader(text), func(p pair) error { keys = append(keys, p.Key); return nil }); err != nil {
			return err
		}
	}
	c, kv, err := o.open(ctx, k, args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		for key, err := range c.AllKeys(ctx, kv, o.prefix) {
			if err != nil {
				return err
			}
			keys = append(keys, key.Name)
		}
	}
	return printPairs(ctx, k, c, kv, keys)
}

// printPairs prints the values in the order of the keys.
func printPairs(ctx context.Context, k *kit.Kit, c *client.Client, kv client.KV, keys []string) error {
	missing := 0
	for len(keys) > 0 {
		part := keys[:min(bulkParallel, len(keys))]
		keys = keys[len(part):]
		lines := make([][]byte, len(part))
		requests, ctx := errgroup.WithContext(ctx)
		for i, key := range part {
			requests.Go(func() (err error) {
				lines[i], err = pairLine(ctx, c, kv, key)
				return err
			})
		}
		if err := requests.Wait(); err != nil {
			return err
		}
		for _, line := range lines {
			if line == nil {
				missing++
				continue
			}
			if _, err := fmt.Fprintf(k.Out, "%s\n", line); err != nil {
				return err
			}
		}
	}
	if missing > 0 {
		k.Notef("%s not found", count(int64(missing), "key"))
	}
	return nil
}

// pairLine reads one key; nil if it does not exist.
func pairLine(ctx context.Context, c *client.Client, kv client.KV, key string) ([]byte, error) {
	v, err := c.GetValue(ctx, kv, key)
	if client.CodeOf(err) == svc.CodeKeyNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", key, err)
	}
	p := printedPair{Key: key, Value: string(v.Data), Expiration: v.Expiration, Metadata: json.RawMessage(v.Metadata)}
	if !utf8.Valid(v.Data) {
		p.Value, p.Base64 = base64.StdEncoding.EncodeToString(v.Data), true
	}
	return json.Marshal(p)
}

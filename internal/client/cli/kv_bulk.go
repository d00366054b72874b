package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// bulkParallel is the number of concurrent requests of a bulk command.
const bulkParallel = 8

func newKVBulk(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "bulk", Short: "Read, store and delete many keys", RunE: serveHelp}
	var put, remove kvFlags
	putCmd := &cobra.Command{
		Use: "put [PROJECT/]VERSION FILE", Short: "Store the keys of a file", Args: cobra.ExactArgs(2),
		Long: "Stores the keys of a file: a JSON array as wrangler's kv bulk put reads it, or JSON lines, of objects with key, value and perhaps\n" +
			"expiration, expiration_ttl, metadata and base64. \"-\" is standard input. After an error some keys may be stored; a repeat is safe.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return bulkVerb{put, "stored", putPair}.run(cmd.Context(), k, args)
		},
	}
	deleteCmd := &cobra.Command{
		Use: "delete [PROJECT/]VERSION FILE", Short: "Delete the keys of a file", Args: cobra.ExactArgs(2),
		Long: "Deletes the keys of a file: a JSON array or JSON lines of strings, or of objects with key or name, such as svcctl kv key list -o json\n" +
			"prints. \"-\" is standard input.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return bulkVerb{remove, "deleted", deletePair}.run(cmd.Context(), k, args)
		},
	}
	put.add(putCmd)
	remove.add(deleteCmd)
	addYes(k, deleteCmd)
	cmd.AddCommand(newKVBulkGet(k), putCmd, deleteCmd)
	return cmd
}

// pair is one entry of a file.
type pair struct {
	Key        string          `json:"key"`
	Name       string          `json:"name"`
	Value      *string         `json:"value"`
	Base64     bool            `json:"base64"`
	Expiration int64           `json:"expiration"`
	TTL        int64           `json:"expiration_ttl"`
	Metadata   json.RawMessage `json:"metadata"`
}

// UnmarshalJSON accepts a key alone.
func (p *pair) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &p.Key)
	}
	type plain pair
	if err := json.Unmarshal(data, (*plain)(p)); err != nil {
		return err
	}
	p.Key = cmp.Or(p.Key, p.Name)
	return nil
}

// readPairs yields the entries of a JSON array or of JSON lines.
func readPairs(in io.Reader, use func(pair) error) error {
	dec := json.NewDecoder(in)
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var list []pair
		switch {
		case err != nil:
		case bytes.HasPrefix(raw, []byte("[")):
			err = json.Unmarshal(raw, &list)
		default:
			list = make([]pair, 1)
			err = json.Unmarshal(raw, &list[0])
		}
		if err != nil {
			return kit.Usagef("entry %d of the file is not a key in JSON: %v", n, err)
		}
		for _, p := range list {
			if err := use(p); err != nil {
				return err
			}
		}
	}
}

// bulkVerb is what a command does with each entry of a file.
type bulkVerb struct {
	kvFlags
	result string
	do     func(context.Context, *client.Client, client.KV, pair) error
}

func (o bulkVerb) run(ctx context.Context, k *kit.Kit, args []string) error {
	text, err := k.ReadFile(args[1])
	if err != nil {
		return kit.Usagef("%v", err)
	}
	if err := readPairs(bytes.NewReader(text), func(pair) error { return nil }); err != nil {
		return err // before anything is changed
	}
	c, kv, err := o.open(ctx, k, args[0])
	if err != nil {
		return err
	}
	if o.result == "deleted" {
		if err := askProduction(ctx, k, c, bindingOf(kv), "deletes the keys in "+args[1]+" from "+kv.Binding); err != nil {
			return err
		}
	}
	var n atomic.Int64
	requests, ctx := errgroup.WithContext(ctx)
	requests.SetLimit(bulkParallel)
	err = readPairs(bytes.NewReader(text), func(p pair) error {
		requests.Go(func() error {
			if err := o.do(ctx, c, kv, p); err != nil {
				return fmt.Errorf("key %q: %w", p.Key, err)
			}
			n.Add(1)
			return nil
		})
		return ctx.Err()
	})
	if failed := requests.Wait(); failed != nil {
		err = failed
	}
	if err != nil {
		k.Notef("%d keys were %s", n.Load(), o.result)
		return err
	}
	summary := map[string]any{"keys": n.Load(), "binding": kv.Binding, "project_id": kv.Project, "version_id": kv.Version, "result": o.result}
	return k.Print(summary, func() { k.Printf("%s %s in %s of %s", o.result, count(n.Load(), "key"), kv.Binding, kv.Version) })
}

func putPair(ctx context.Context, c *client.Client, kv client.KV, p pair) error {
	if p.Value == nil {
		return kit.Usagef("the entry has no value")
	}
	data := []byte(*p.Value)
	if p.Base64 {
		var err error
		if data, err = base64.StdEncoding.DecodeString(*p.Value); err != nil {
			return kit.Usagef("the value is not base64: %v", err)
		}
	}
	return c.PutValue(ctx, kv, p.Key, bytes.NewReader(data), client.NewValue{Metadata: string(p.Metadata), Expiration: p.Expiration, TTL: p.TTL})
}

func deletePair(ctx context.Context, c *client.Client, kv client.KV, p pair) error {
	return c.DeleteValue(ctx, kv, p.Key)
}

// count is "1 key" or "2 keys".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newKV(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "kv", Short: "Read and change the key-value namespaces of a version", RunE: serveHelp}
	key := &cobra.Command{Use: "key", Short: "List, read, store and delete keys", RunE: serveHelp}
	key.AddCommand(newKVList(k), newKVGet(k), newKVPut(k), newKVDelete(k))
	cmd.AddCommand(key, newKVBulk(k))
	addForce(k, cmd)
	return cmd
}

// kvFlags say which namespace a command is about.
type kvFlags struct{ bindingFlags }

func (f *kvFlags) add(cmd *cobra.Command) { f.addAs(cmd, "namespace") }

// open finds the namespace.
func (f kvFlags) open(ctx context.Context, k *kit.Kit, arg string) (*client.Client, client.KV, error) {
	c, kv, err := f.named(k, arg)
	if err != nil || kv.Binding != "" {
		return c, client.KV(kv), err
	}
	all, err := c.Namespaces(ctx, kv.Project, kv.Version)
	if err == nil {
		kv.Binding, err = only(kv.Version, "key-value namespaces", all, func(n api.Namespace) string { return n.Binding })
	}
	return c, client.KV(kv), err
}

type kvList struct {
	kvFlags
	prefix string
	limit  int
}

func newKVList(k *kit.Kit) *cobra.Command {
	var o kvList
	cmd := &cobra.Command{
		Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: "List keys", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return listKeys(cmd.Context(), k, o, args[0]) },
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.prefix, "prefix", "", "prefix of the keys to list")
	cmd.Flags().IntVar(&o.limit, "limit", 1000, "maximum number of results (0 = no limit)")
	return cmd
}

func listKeys(ctx context.Context, k *kit.Kit, o kvList, arg string) error {
	c, kv, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	list, err := collect(c.AllKeys(ctx, kv, o.prefix), o.limit)
	if err != nil {
		return err
	}
	return list.print(k, []string{"KEY", "EXPIRES", "METADATA"}, func(key api.Key) []string {
		expires := ""
		if key.Expiration != 0 {
			expires = time.Unix(key.Expiration, 0).UTC().Format(time.RFC3339)
		}
		return []string{key.Name, expires, string(key.Metadata)}
	})
}

func newKVGet(k *kit.Kit) *cobra.Command {
	var o kvFlags
	cmd := &cobra.Command{
		Use: "get [PROJECT/]VERSION KEY", Short: "Write a value unchanged to standard output", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return getKey(cmd.Context(), k, o, args[0], args[1]) },
	}
	o.add(cmd)
	return cmd
}

// shownValue is a value as JSON.
type shownValue struct {
	Name       string `json:"name"`
	Base64     string `json:"value_base64"`
	Metadata   string `json:"metadata,omitempty"`   // JSON in a string
	Expiration int64  `json:"expiration,omitempty"` // seconds since 1970
}

func getKey(ctx context.Context, k *kit.Kit, o kvFlags, arg, key string) error {
	c, kv, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	v, err := c.GetValue(ctx, kv, key)
	if err != nil {
		return err
	}
	if k.JSON() {
		return k.Print(shownValue{key, base64.StdEncoding.EncodeToString(v.Data), v.Metadata, v.Expiration}, nil)
	}
	_, err = k.Out.Write(v.Data)
	return err
}

type kvPut struct {
	kvFlags
	path, metadata  string
	expiration, ttl int64
}

func newKVPut(k *kit.Kit) *cobra.Command {
	var o kvPut
	cmd := &cobra.Command{
		Use: "put [PROJECT/]VERSION KEY [VALUE]", Short: "Store a value", Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error { return putKey(cmd.Context(), k, o, args) },
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.path, "path", "", `read the value from this file; "-" for standard input`)
	cmd.Flags().StringVar(&o.metadata, "metadata", "", "JSON metadata to store")
	cmd.Flags().Int64Var(&o.expiration, "expiration", 0, "expiration time in seconds since 1970")
	cmd.Flags().Int64Var(&o.ttl, "ttl", 0, "time to live in seconds")
	return cmd
}

func putKey(ctx context.Context, k *kit.Kit, o kvPut, args []string) error {
	value, err := o.value(k, args[2:])
	if err != nil {
		return err
	}
	defer value.Close()
	c, kv, err := o.open(ctx, k, args[0])
	if err != nil {
		return err
	}
	with := client.NewValue{Metadata: o.metadata, Expiration: o.expiration, TTL: o.ttl}
	if err := c.PutValue(ctx, kv, args[1], value, with); err != nil {
		return err
	}
	return changed(k, change{Key: args[1], Binding: kv.Binding, ProjectID: kv.Project, VersionID: kv.Version, Result: "stored"})
}

// value opens what is to be stored: an argument, a file or standard input.
func (o kvPut) value(k *kit.Kit, args []string) (io.ReadCloser, error) {
	switch {
	case len(args) == 1 && o.path == "":
		return io.NopCloser(strings.NewReader(args[0])), nil
	case len(args) == 1 || o.path == "":
		return nil, kit.Usagef("missing value: give it as an argument, or a file with --path")
	case o.path == "-":
		return io.NopCloser(k.In), nil
	}
	f, err := os.Open(k.Path(o.path))
	if err != nil {
		return nil, fmt.Errorf("reading the value: %w", err)
	}
	return f, nil
}

// change is a key or an object that was stored or deleted.
type change struct {
	Key       string `json:"key"`
	Binding   string `json:"binding"`
	ProjectID string `json:"project_id"`
	VersionID string `json:"version_id"`
	Result    string `json:"result"` // "stored" or "deleted"
}

// changed says what was changed: a line on stderr, or a document with -o json.
func changed(k *kit.Kit, c change) error {
	where := "in"
	if c.Result == "deleted" {
		where = "from"
	}
	return k.Print(c, func() { k.Notef("%s %s %s %s of %s", c.Result, kit.Clean(c.Key), where, c.Binding, c.VersionID) })
}

func newKVDelete(k *kit.Kit) *cobra.Command {
	var o kvFlags
	cmd := &cobra.Command{
		Use: "delete [PROJECT/]VERSION KEY", Short: "Delete a key", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return deleteKey(cmd.Context(), k, o, args[0], args[1]) },
	}
	o.add(cmd)
	addYes(k, cmd)
	return cmd
}

func deleteKey(ctx context.Context, k *kit.Kit, o kvFlags, arg, key string) error {
	c, kv, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	if err := askProduction(ctx, k, c, bindingOf(kv), fmt.Sprintf("deletes the key %s from %s", key, kv.Binding)); err != nil {
		return err
	}
	if err := c.DeleteValue(ctx, kv, key); err != nil {
		return err
	}
	return changed(k, change{Key: key, Binding: kv.Binding, ProjectID: kv.Project, VersionID: kv.Version, Result: "deleted"})
}

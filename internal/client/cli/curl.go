package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/client/front"
)

type curlOptions struct {
	project string
	method  string
	headers []string
	data    string
	include bool
	fail    bool
}

func (o *curlOptions) flags(cmd *cobra.Command) {
	projectFlag(cmd, &o.project)
	f := cmd.Flags()
	f.StringVarP(&o.method, "request", "X", "", "method (default: GET, or POST with --data)")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "header, NAME: VALUE; may be repeated")
	f.StringVarP(&o.data, "data", "d", "", `body; @FILE for a file, "@-" for standard input`)
	f.BoolVarP(&o.include, "include", "i", false, "print the head of the answer before the body")
	f.BoolVarP(&o.fail, "fail", "f", false, "exit with code 1 for a status of 400 or more")
}

func newCurl(k *kit.Kit) *cobra.Command {
	var o curlOptions
	cmd := &cobra.Command{
		Use: "curl [PROJECT/]VERSION [PATH]", Short: "Send a request to a version", Args: cobra.RangeArgs(1, 2),
		Long: "Sends a request with the host name of the version, whether DNS knows it or not. The body goes to stdout; the status and the\n" +
			"Svc- headers go to stderr.",
		Example: "  svcctl curl pr-7 /api/items\n  svcctl curl shop/pr-7 /api/items -d '{\"name\":\"x\"}' -H 'Content-Type: application/json'",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "/"
			if len(args) == 2 {
				path = "/" + strings.TrimPrefix(args[1], "/")
			}
			return curl(cmd.Context(), k, o, args[0], path)
		},
	}
	o.flags(cmd)
	return cmd
}

func curl(ctx context.Context, k *kit.Kit, o curlOptions, arg, path string) error {
	target, err := targetOf(ctx, k, arg, o.project)
	if err != nil {
		return err
	}
	req, err := o.request(ctx, k, target, path)
	if err != nil {
		return err
	}
	c := &http.Client{
		Transport:     &http.Transport{DialContext: front.Dial, DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	o.head(k, resp)
	if _, err := io.Copy(k.Out, resp.Body); err != nil {
		return err
	}
	if o.fail && resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("version %s answers %s", target.Version, resp.Status)
	}
	return nil
}

// request is the request that the flags mean.
func (o *curlOptions) request(ctx context.Context, k *kit.Kit, t front.Target, path string) (*http.Request, error) {
	var body io.Reader
	method := o.method
	if o.data != "" {
		text := []byte(o.data)
		if name, isFile := strings.CutPrefix(o.data, "@"); isFile {
			var err error
			if text, err = k.ReadFile(name); err != nil {
				return nil, kit.Usagef("--data: %v", err)
			}
		}
		body = strings.NewReader(string(text))
		method = cmp.Or(method, http.MethodPost)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.URL.String()+path, body)
	if err != nil {
		return nil, kit.Usagef("%v", err)
	}
	req.Host = t.Host
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, kit.Usagef("--header %q is not NAME: VALUE", h)
		}
		req.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return req, nil
}

// head prints the head of an answer: all of it to stdout with --include, else the
// status and the Svc- headers to stderr.
func (o *curlOptions) head(k *kit.Kit, resp *http.Response) {
	var names []string
	for name := range resp.Header {
		if o.include || strings.HasPrefix(name, "Svc-") || name == "X-Request-Id" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	write := k.Notef
	if o.include {
		write = k.Printf
	}
	write("%s %s", resp.Proto, resp.Status)
	for _, name := range names {
		for _, value := range resp.Header[name] {
			write("%s: %s", name, kit.Clean(value))
		}
	}
	if o.include {
		write("")
	}
}

// targetOf finds out how requests reach a version.
func targetOf(ctx context.Context, k *kit.Kit, arg, named string) (front.Target, error) {
	c, err := k.Client()
	if err != nil {
		return front.Target{}, err
	}
	project, id, err := versionOf(k, arg, named)
	if err != nil {
		return front.Target{}, err
	}
	v, err := c.Version(ctx, project, id)
	if err != nil {
		return front.Target{}, err
	}
	server, err := dev.Remote(c, "")
	if err != nil {
		return front.Target{}, err
	}
	return server.Target(v), nil
}

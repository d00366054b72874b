package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

const (
	source = "shop/src/index.ts"
	query  = "SELECT id, title FROM tasks"
)

// developer is the day of a developer: a new worker, saves, mistakes, the way back, a deploy.
func developer(ctx context.Context, w *world) ([]chapter, error) {
	const guide = "getting-started.md"
	r := w.record(ctx)
	r.run("svcctl init shop --template d1", 0)
	r.gap()
	r.cd("shop")
	dev, address, err := r.dev()
	if err != nil {
		return nil, err
	}
	r.saves(address)
	chapters := []chapter{r.chapter("dev", "svcctl init and svcctl dev in a terminal", guide)}

	r.mistakes(address, dev)
	r.try(func() error { return dev.end(0) })
	chapters = append(chapters, r.chapter("rewind", "svcctl dev: a broken save, and the way back", guide))

	r.try(func() error { return w.serve(ctx) })
	r.deploys()
	return append(chapters, r.chapter("deploy", "svcctl deploy, release and rollback in a terminal", guide)), r.err
}

// dev starts watch mode, and returns its address.
func (r *recorder) dev() (p *program, address string, err error) {
	if r.err != nil {
		return nil, "", r.err
	}
	if p, err = r.start("svcctl dev", "--port 0"); err != nil {
		return nil, "", err
	}
	found, err := r.await(`dev   (http://localhost(:\d+))`)
	if err != nil {
		return nil, "", err
	}
	r.world.hide(found[2], ":8787")
	r.sees(`save 1 .*\n`)
	return p, found[1], nil
}

// saves is a session in which all goes well.
func (r *recorder) saves(address string) {
	r.gap()
	r.request(address, "buy milk")
	r.gap()
	r.comment("in the editor: a migration, then the query that needs it")
	r.edit(func() error {
		return r.world.write("shop/migrations/0002_done.sql", "ALTER TABLE tasks ADD COLUMN done INTEGER NOT NULL DEFAULT 0;\n")
	}, `save 2 .*\n`)
	r.edit(func() error { return r.world.replace(query, "SELECT id, title, done FROM tasks") }, `save 3 .*\n`)
	r.gap()
	r.request(address, "")
}

// mistakes is what a developer does wrong: a syntax error, and a migration that deletes data.
func (r *recorder) mistakes(address string, dev *program) {
	r.comment("in the editor: a comma too many")
	r.edit(func() error { return r.world.replace("const title =", "const title, =") }, `still serving save 3.*\n`)
	r.comment("and without it")
	r.edit(func() error { return r.world.replace("const title, =", "const title =") }, `back to save 3.*\n`)
	r.gap()
	r.comment("in the editor: a migration that does more than it should")
	r.edit(func() error { return r.world.write("shop/migrations/0003_clean.sql", "DELETE FROM tasks;\n") }, `save 4 .*\n`)
	r.request(address, "")
	r.gap()
	r.comment("the key r, then the number of a save")
	dev.press("r")
	r.sees(`go back to save .*: $`)
	dev.press("3\n")
	r.sees(`save 5 .*\n`)
	r.request(address, "")
	dev.press("q")
}

// deploys needs a server. The way back is one command.
func (r *recorder) deploys() {
	r.comment("the server, on this machine or another one: svcctl serve --base-domain localhost")
	r.edit(func() error { return r.world.remove("shop/migrations/0003_clean.sql") }, "")
	r.run("svcctl deploy --version v1 --wait", 0)
	r.gap()
	r.run("svcctl curl v1 / -d 'buy milk'", 0)
	r.edit(func() error { return r.world.replace("ORDER BY id", "ORDER BY done, id") }, "")
	r.gap()
	r.run("svcctl deploy --release --version v2", 0)
	r.gap()
	r.run("svcctl curl v2 /", 0)
	r.gap()
	r.run("svcctl rollback --keep-data", 0)
	r.gap()
	r.run("svcctl versions list", 0)
}

// edit changes a file and waits for what is shown then; pattern is "" for nothing.
func (r *recorder) edit(change func() error, pattern string) {
	r.try(change)
	if pattern != "" {
		r.sees(pattern)
	}
}

// request is one of a visitor: a POST of body, or a GET if it is "". Watch mode shows it.
func (r *recorder) request(address, body string) {
	method, flags := http.MethodGet, ""
	if body != "" {
		method, flags = http.MethodPost, fmt.Sprintf("-d %q ", body)
	}
	r.comment("in another terminal: curl %s%s", flags, address)
	var answer string
	r.try(func() (err error) {
		answer, err = send(r.ctx, method, address, body)
		return err
	})
	r.sees(method + ` / 20\d.*\n`)
	if answer != "" {
		r.comment("it answers %s", answer)
	}
}

// send sends a request to a local server and returns the body of the answer.
func send(ctx context.Context, method, url, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := local().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return strings.TrimSpace(string(answer)), err
}

// local is a client to which every host is this machine.
func local() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1"+address[strings.LastIndexByte(address, ':'):])
		},
	}}
}

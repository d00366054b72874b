package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
)

// commit is the commit of the pull request.
const commit = "0f2ac74b498b48028cb68387c421e2790f2ac74b"

// pipeline is what CI does with a pull request: a preview of it, a comment, and after the merge
// a release.
func pipeline(ctx context.Context, w *world) ([]chapter, error) {
	const guide = "ci.md"
	forge := newForge()
	defer forge.Close()
	r := w.record(ctx)
	r.dir, r.plain = "shop", true
	r.quietly("svcctl deploy --version staging --parent production --wait", "svcctl versions pin staging")
	outputs := filepath.Join(w.home, "outputs")
	job := []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=acme/shop", "GITHUB_WORKSPACE=" + filepath.Join(w.home, "shop"), "GITHUB_TOKEN=t", "GITHUB_API_URL=" + forge.URL,
		"GITHUB_SHA=" + commit, "GITHUB_OUTPUT=" + outputs, "SVCCTL_SERVER=" + w.note.API, "SVCCTL_DEPLOY_TOKEN=" + w.note.DeployToken,
	}
	r.env = append(job, "GITHUB_REF=refs/pull/7/merge")
	r.comment("the job of a pull request: SVCCTL_SERVER and SVCCTL_DEPLOY_TOKEN are set")
	r.run("svcctl deploy --version pr-7 --parent staging --wait --comment-file comment.md", 0)
	r.gap()
	r.run("svcctl comment comment.md", 0)
	r.gap()
	r.show(`cat "$GITHUB_OUTPUT"`, "outputs")
	r.comment("the comment on the pull request")
	r.try(func() error { return r.say(forge.comment()) })
	chapters := []chapter{r.chapter("ci-deploy", "A job that deploys a pull request", guide)}

	r.comment("a commit that does not build")
	r.edit(func() error { return w.replace("const title =", "const title, =") }, "")
	r.run("svcctl deploy --version pr-7-2 --parent staging --wait", 1)
	r.edit(func() error { return w.replace("const title, =", "const title =") }, "")
	chapters = append(chapters, r.chapter("ci-failure", "A job whose worker does not build", guide))

	r.env = append(job, "GITHUB_REF=refs/heads/main", "SVCCTL_ADMIN_TOKEN="+w.note.AdminToken)
	r.comment("the job of the default branch: SVCCTL_ADMIN_TOKEN is set, too")
	r.run("svcctl deploy --release --version v3", 0)
	return append(chapters, r.chapter("ci-release", "A job that releases", guide)), r.err
}

// quietly runs commands that the recording does not show.
func (r *recorder) quietly(lines ...string) {
	for _, line := range lines {
		r.run(line, 0)
	}
	r.chapter("", "", "")
}

// say shows a text.
func (r *recorder) say(text string) error {
	_, err := fmt.Fprintln(r, text)
	return err
}

// forge answers as GitHub's API of comments, and keeps the last comment.
type forge struct {
	*httptest.Server

	mu   sync.Mutex
	last string
}

func newForge() *forge {
	f := &forge{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var comment struct {
			Body string `json:"body"`
		}
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte("[]")) // to a client of this process
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&comment)
		f.mu.Lock()
		f.last = comment.Body
		f.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte("{}")) // as above
	}))
	return f
}

func (f *forge) comment() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 10 * time.Second
	// networkPatience is how long a request is repeated after its connection was lost:
	// it has an idempotency key, or may be repeated by its nature.
	networkPatience = 30 * time.Second
	// connectPatience is how long an address that refuses connections is tried: long
	// enough for a daemon that restarts, short enough for a wrong address.
	connectPatience = 2 * time.Second
)

// creation creates one version and uploads its bundle.
type creation struct {
	k        *kit.Kit
	c        *client.Client
	progress *kit.Progress
	built    *build.Result
	timeout  time.Duration // for all attempts
}

// create creates the version, and its project when that is missing and the token
// allows it. It is repeated while the deploy queue is full.
func (j creation) create(ctx context.Context, req api.CreateVersion) (api.VersionAccepted, error) {
	var accepted api.VersionAccepted
	key := rand.Text()
	err := j.retry(ctx, func() (err error) {
		accepted, err = j.c.CreateVersion(ctx, j.built.Project, req, key)
		return err
	})
	if client.CodeOf(err) != svc.CodeProjectNotFound {
		return accepted, err
	}
	if _, err := j.c.CreateProject(ctx, api.CreateProject{ID: j.built.Project}); err != nil {
		return accepted, fmt.Errorf("project %s does not exist and could not be created: %w", j.built.Project, err)
	}
	j.k.Notef("created project %s", j.built.Project)
	err = j.retry(ctx, func() (err error) {
		accepted, err = j.c.CreateVersion(ctx, j.built.Project, req, key)
		return err
	})
	return accepted, err
}

// send uploads the static files and then the bundle to the address that the create returned.
func (j creation) send(ctx context.Context, accepted api.VersionAccepted) error {
	if accepted.Upload == nil {
		return errors.New("the server returned no upload address: it may be older than this program")
	}
	if err := j.sendAssets(ctx, *accepted.Upload); client.CodeOf(err) == svc.CodeAlreadyUploaded {
		return nil // a retry of a deploy that got further [D9]
	} else if err != nil {
		return err
	}
	f, err := os.Open(j.built.File)
	if err != nil {
		return err
	}
	defer f.Close()
	j.progress.Stage("uploading " + text.Bytes(j.built.Size))
	err = j.retry(ctx, func() error {
		return j.c.Upload(ctx, *accepted.Upload, f, func(sent int64) { j.progress.Bytes(sent, j.built.Size) })
	})
	if client.CodeOf(err) == svc.CodeAlreadyUploaded {
		return nil // a retry of a deploy that got this far [D9]
	}
	return err
}

// sendAssets uploads the static files that the server lacks. After a lost connection it
// asks again which those are.
func (j creation) sendAssets(ctx context.Context, to api.Upload) error {
	if len(j.built.Assets) == 0 {
		return nil
	}
	if to.AssetsURL == "" {
		return errors.New("the server returned no address for static files: it may be older than this program")
	}
	all := make([]client.Asset, len(j.built.Assets))
	for i, a := range j.built.Assets {
		all[i] = client.Asset{
			BundleFile: api.BundleFile{Path: a.Path, SHA256: a.SHA256, SizeBytes: a.Size},
			Open:       func() (io.ReadCloser, error) { return os.Open(a.Disk) },
		}
	}
	return j.retry(ctx, func() error {
		missing, err := j.c.MissingAssets(ctx, to, all)
		if err != nil || len(missing) == 0 {
			return err
		}
		var size int64
		for _, a := range missing {
			size += a.SizeBytes
		}
		j.progress.Stage(fmt.Sprintf("uploading %d of %d static files, %s", len(missing), len(all), text.Bytes(size)))
		return j.c.UploadAssets(ctx, to, missing, func(sent int64) { j.progress.Bytes(sent, size) })
	})
}

// retry calls do until it succeeds, fails for good, or its time is over.
func (j creation) retry(ctx context.Context, do func() error) error {
	began, pause, said := time.Now(), backoff.Backoff{First: firstRetry, Max: lastRetry}, ""
	for {
		err := do()
		patience, why := j.patience(err)
		left := patience - time.Since(began)
		if left <= 0 || ctx.Err() != nil {
			return err
		}
		if why != said { // now: elsewhere than on a terminal a stage is printed when it ends
			j.progress.Abort()
			j.k.Notef("%s: trying again", why)
			said = why
		}
		if err := backoff.Sleep(ctx, min(left, max(pause.Next(), retryAfter(err)))); err != nil {
			return &kit.InterruptedError{Text: "interrupted; nothing was deployed"}
		}
	}
}

// patience is how long the call that returned err is repeated, and what to say
// meanwhile; 0 for an error that a repeat does not cure.
func (j creation) patience(err error) (d time.Duration, why string) {
	refused, answered := errors.AsType[*client.Error](err)
	_, lookup := errors.AsType[*net.DNSError](err)
	switch {
	case client.CodeOf(err) == svc.CodeQueueFull:
		return j.timeout, "the deploy queue is full"
	case answered && (refused.Status == http.StatusBadGateway || refused.Status >= http.StatusServiceUnavailable):
		return min(j.timeout, networkPatience), "the server answers " + http.StatusText(refused.Status)
	case !errors.Is(err, client.ErrUnreachable):
		return 0, ""
	case errors.Is(err, syscall.ECONNREFUSED) || lookup:
		return min(j.timeout, connectPatience), "the server does not answer"
	}
	return min(j.timeout, networkPatience), "the connection to the server was lost"
}

// retryAfter is the pause that the server asked for.
func retryAfter(err error) time.Duration {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.RetryAfter
	}
	return 0
}

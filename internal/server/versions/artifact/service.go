package artifact

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// lifetime of an address: the time for a slow pipeline between creating the
	// version and uploading.
	lifetime = 15 * time.Minute
	// undoLimit bounds the work after an upload, which does not end with its client.
	undoLimit = 30 * time.Second
)

// Versions reads the status of a version.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Presigner returns addresses that the object store checks.
type Presigner interface {
	PresignPut(ctx context.Context, key string, expires time.Duration) (url string, headers map[string]string, err error)
}

// Assets stores the static files of versions: assetstore.Store.
type Assets interface {
	Announce(ctx context.Context, ref svc.Ref, files []bundle.File) (missing []string, err error)
	Accept(ctx context.Context, ref svc.Ref, archive io.Reader) (svc.AssetsReceipt, error)
}

// Config configures a Service.
type Config struct {
	Bucket    objstore.Bucket // of bundles
	Presigner Presigner       // nil: the address is on our own API
	BaseURL   string          // of the API, up to and with /v1
	Key       []byte          // signs tickets; must not change over restarts
	MaxSize   int64           // bytes of an upload
	Versions  Versions
	Assets    Assets
	Arrived   func(svc.Ref) // called when a bundle is stored
	Logger    *slog.Logger
}

// Service issues addresses and accepts uploads.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) *Service { return &Service{cfg} }

// Issue returns the address for the bundle of ref.
func (s *Service) Issue(ctx context.Context, ref svc.Ref) (svc.Upload, error) {
	expires := time.Now().Add(lifetime)
	own := s.cfg.BaseURL + "/uploads/" + s.ticket(ref, expires)
	up := svc.Upload{Method: "PUT", ExpiresAt: expires, AssetsURL: own + "/assets"}
	if s.cfg.Presigner != nil {
		var err error
		up.URL, up.Headers, err = s.cfg.Presigner.PresignPut(ctx, bundle.Keys(ref)[0], lifetime)
		return up, err
	}
	up.URL = own
	up.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	return up, nil
}

// Accept stores body as the bundle that ticket is for and returns its digest. size
// is -1 if unknown. An empty body is BadRequest (upload_empty) and leaves the ticket
// valid. A version whose deploy has failed accepts none (Conflict, version_failed),
// nor does a destroyed one (Gone, version_destroyed), even if it ends during the upload,
// unless its deploy has read the bundle.
func (s *Service) Accept(ctx context.Context, ticket string, body io.Reader, size int64) (svc.Receipt, error) {
	ref, err := s.check(ticket, time.Now())
	if err == nil {
		_, err = s.wanted(ctx, ref)
	}
	if err != nil {
		return svc.Receipt{}, err
	}
	if size > s.cfg.MaxSize {
		return svc.Receipt{}, s.tooLarge()
	}
	if body, err = nonEmpty(body); err != nil {
		return svc.Receipt{}, err
	}
	sum := &summed{r: body, hash: sha256.New(), left: s.cfg.MaxSize}
	info, err := s.cfg.Bucket.Put(ctx, bundle.Keys(ref)[0], sum, size, objstore.Condition{IfAbsent: true})
	if gone := s.stillWanted(ctx, ref); gone != nil {
		return svc.Receipt{}, gone
	}
	switch {
	case errors.Is(err, objstore.ErrPrecondition):
		return svc.Receipt{}, svc.Errorf(svc.Conflict, svc.CodeAlreadyUploaded, "the bundle of %s is already stored", ref).
			WithHint("create another version to deploy another bundle")
	case errors.Is(err, errTooLarge):
		return svc.Receipt{}, s.tooLarge()
	case err != nil:
		return svc.Receipt{}, svc.Errorf(svc.Unavailable, svc.CodeUploadFailed, "the bundle of %s could not be stored", ref).
			WithHint("upload it again").Because(err)
	}
	s.cfg.Arrived(ref)
	return svc.Receipt{Digest: "sha256:" + hex.EncodeToString(sum.hash.Sum(nil)), Size: info.Size}, nil
}

// nonEmpty returns body with its first byte read, or BadRequest if it has none.
func nonEmpty(body io.Reader) (io.Reader, error) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(body, first); errors.Is(err, io.EOF) {
		return nil, svc.Errorf(svc.BadRequest, svc.CodeUploadEmpty, "the uploaded bundle is empty").
			WithHint("upload the bundle again; the address stays valid")
	} else if err != nil {
		return nil, svc.Errorf(svc.Unavailable, svc.CodeUploadFailed, "reading the upload failed").WithHint("upload it again").Because(err)
	}
	return io.MultiReader(bytes.NewReader(first), body), nil
}

// wanted rejects the bundle of a version that has ended.
func (s *Service) wanted(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.cfg.Versions.Version(ctx, ref)
	if err != nil {
		return v, err
	}
	if v.Status == svc.StatusDestroyed {
		return v, svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", ref).WithHint("create another version")
	}
	if v.Status == svc.StatusFailed {
		return v, svc.Errorf(svc.Conflict, svc.CodeVersionFailed, "the deploy of %s has failed", ref).WithHint("create another version")
	}
	return v, nil
}

// hasRead reports whether a failed deploy read the bundle: it failed because of the
// bundle, which may happen before the Put returns.
func hasRead(v svc.Version) bool {
	_, code := v.Failure()
	return v.Status == svc.StatusFailed && code != "" && code != svc.CodeArtifactMissing
}

// stillWanted checks the version again after the Put. If the version has ended, it
// deletes the bundle, because the purge of the version may have come before the Put.
// It ignores the result of the Put: a failed one may have stored the object.
func (s *Service) stillWanted(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	log := s.cfg.Logger.With("project", ref.Project, "version", ref.Version)
	v, gone := s.wanted(ctx, ref)
	switch {
	case gone == nil || hasRead(v):
		return nil
	case !errors.Is(gone, svc.Gone) && !errors.Is(gone, svc.NotFound) && svc.CodeOf(gone) != svc.CodeVersionFailed:
		log.ErrorContext(ctx, "checking the version of an upload failed; keeping the bundle", "error", gone)
		return nil
	}
	if err := s.cfg.Bucket.Delete(ctx, bundle.Keys(ref)[0]); err != nil {
		log.ErrorContext(ctx, "deleting the bundle of an ended version failed; the object stays", "key", bundle.Keys(ref)[0], "error", err)
	}
	return gone
}

func (s *Service) tooLarge() error {
	return svc.Errorf(svc.TooLarge, svc.CodeBundleTooLarge, "the bundle exceeds the limit of %d bytes", s.cfg.MaxSize)
}

// ticket is base64url("project/version/unix-time") "." base64url(HMAC).
func (s *Service) ticket(ref svc.Ref, expires time.Time) string {
	claim := base64.RawURLEncoding.EncodeToString([]byte(ref.String() + "/" + strconv.FormatInt(expires.Unix(), 10)))
	return claim + "." + base64.RawURLEncoding.EncodeToString(s.sign(claim))
}

func (s *Service) sign(claim string) []byte {
	mac := hmac.New(sha256.New, s.cfg.Key)
	mac.Write([]byte("upload:" + claim))
	return mac.Sum(nil)
}

func (s *Service) check(ticket string, now time.Time) (svc.Ref, error) {
	claim, signature, _ := strings.Cut(ticket, ".")
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, s.sign(claim)) {
		return svc.Ref{}, svc.Errorf(svc.Forbidden, svc.CodeUploadInvalid, "the upload address was not issued by this service").
			WithHint("create a version with \"upload\": true to get an address")
	}
	raw, err := base64.RawURLEncoding.DecodeString(claim)
	parts := strings.Split(string(raw), "/")
	if err != nil || len(parts) != 3 {
		return svc.Ref{}, fmt.Errorf("malformed signed ticket %q", raw)
	}
	expires, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || now.Unix() > expires {
		return svc.Ref{}, svc.Errorf(svc.Forbidden, svc.CodeUploadExpired, "the upload address has expired").
			WithHint("create another version")
	}
	return svc.Ref{Project: parts[0], Version: parts[1]}, nil
}

var errTooLarge = errors.New("the body exceeds the limit")

// summed hashes the bytes read through it and fails after left bytes.
type summed struct {
	r    io.Reader
	hash hash.Hash
	left int64
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.left -= int64(n); s.left < 0 {
		return 0, errTooLarge
	}
	s.hash.Write(p[:n])
	return n, err
}

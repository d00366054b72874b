// Package upload lets a client that holds only the deploy token bring its
// bundle: create-version hands out an address that works once [D11]. With an
// external store that is a presigned URL of the store; with the embedded one it
// is a URL of our own API, whose ticket is signed, so nothing is remembered.
//
// "Once" is kept by the store: the object is created only if it is not there.
package upload

import (
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

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// ObjectName is the name of a bundle below {project}/{version}/ [D40]. Readers
// recognise the compression by its first bytes.
const ObjectName = "bundle.tar.zst"

const (
	// lifetime is how long an address works: as long as a slow pipeline may take
	// between creating the version and uploading.
	lifetime = 15 * time.Minute
	// undoLimit bounds what is done for an upload that its client may not wait for.
	undoLimit = 30 * time.Second
)

// Versions says what became of a version.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Presigner makes addresses that the store itself checks.
type Presigner interface {
	PresignPut(ctx context.Context, key string, expires time.Duration) (url string, headers map[string]string, err error)
}

// Config is what the service needs.
type Config struct {
	Bucket    objstore.Bucket // of bundles
	Presigner Presigner       // nil: the address is on our own API
	BaseURL   string          // of the API, up to and with /v1
	Key       []byte          // signs tickets; keep it over restarts
	MaxSize   int64           // bytes of an upload
	Versions  Versions
	Arrived   func(svc.Ref) // called when a bundle is stored
	Logger    *slog.Logger
}

// Service issues addresses and takes uploads. Safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service { return &Service{cfg} }

// Issue gives the address for the bundle of ref.
func (s *Service) Issue(ctx context.Context, ref svc.Ref) (svc.Upload, error) {
	expires := time.Now().Add(lifetime)
	up := svc.Upload{Method: "PUT", ExpiresAt: expires}
	if s.cfg.Presigner != nil {
		var err error
		up.URL, up.Headers, err = s.cfg.Presigner.PresignPut(ctx, objectKey(ref), lifetime)
		return up, err
	}
	up.URL = s.cfg.BaseURL + "/uploads/" + s.ticket(ref, expires)
	up.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	return up, nil
}

// Accept stores body as the bundle that ticket is for and gives its digest. size
// is -1 when unknown. A version that is destroyed takes none, also when that
// happens meanwhile: Gone, version_destroyed.
func (s *Service) Accept(ctx context.Context, ticket string, body io.Reader, size int64) (svc.Receipt, error) {
	ref, err := s.check(ticket, time.Now())
	if err == nil {
		err = s.wanted(ctx, ref)
	}
	if err != nil {
		return svc.Receipt{}, err
	}
	if size > s.cfg.MaxSize {
		return svc.Receipt{}, s.tooLarge()
	}
	sum := &summed{r: body, hash: sha256.New(), left: s.cfg.MaxSize}
	info, err := s.cfg.Bucket.Put(ctx, objectKey(ref), sum, size, objstore.Condition{IfAbsent: true})
	if gone := s.stillWanted(ctx, ref); gone != nil {
		return svc.Receipt{}, gone
	}
	switch {
	case errors.Is(err, objstore.ErrPrecondition):
		return svc.Receipt{}, svc.Errorf(svc.Conflict, "already_uploaded", "the bundle of %s is there already", ref).
			WithHint("create another version to deploy another bundle")
	case errors.Is(err, errTooLarge):
		return svc.Receipt{}, s.tooLarge()
	case err != nil:
		return svc.Receipt{}, svc.Errorf(svc.Unavailable, "upload_failed", "the bundle of %s could not be stored", ref).
			WithHint("upload it again").Because(err)
	}
	s.cfg.Arrived(ref)
	return svc.Receipt{Digest: "sha256:" + hex.EncodeToString(sum.hash.Sum(nil)), Size: info.Size}, nil
}

// wanted refuses the bundle of a version that is no more.
func (s *Service) wanted(ctx context.Context, ref svc.Ref) error {
	v, err := s.cfg.Versions.Version(ctx, ref)
	if err == nil && v.Status == svc.StatusDestroyed {
		err = svc.Errorf(svc.Gone, "version_destroyed", "version %s was destroyed", ref).WithHint("create another version")
	}
	return err
}

// stillWanted looks again after the Put, and removes what it put when the version
// was destroyed meanwhile: the removal that comes with that may have been before
// it, and nothing else looks there. What the Put said does not matter, for one that
// failed may have stored the object.
func (s *Service) stillWanted(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	log := s.cfg.Logger.With("project", ref.Project, "version", ref.Version)
	gone := s.wanted(ctx, ref)
	switch {
	case gone == nil:
		return nil
	case !errors.Is(gone, svc.Gone) && !errors.Is(gone, svc.NotFound):
		log.ErrorContext(ctx, "an upload was not looked after", "error", gone)
		return nil
	}
	if err := s.cfg.Bucket.Delete(ctx, objectKey(ref)); err != nil {
		log.ErrorContext(ctx, "the bundle of a destroyed version stays", "key", objectKey(ref), "error", err)
	}
	return gone
}

func (s *Service) tooLarge() error {
	return svc.Errorf(svc.TooLarge, "bundle_too_large", "a bundle may have at most %d bytes", s.cfg.MaxSize)
}

func objectKey(ref svc.Ref) string { return ref.String() + "/" + ObjectName }

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
		return svc.Ref{}, svc.Errorf(svc.Forbidden, "upload_invalid", "this upload address is not one of ours").
			WithHint("create a version with \"upload\": true to get one")
	}
	raw, err := base64.RawURLEncoding.DecodeString(claim)
	parts := strings.Split(string(raw), "/")
	if err != nil || len(parts) != 3 {
		return svc.Ref{}, fmt.Errorf("a signed ticket that does not parse: %q", raw)
	}
	expires, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || now.Unix() > expires {
		return svc.Ref{}, svc.Errorf(svc.Forbidden, "upload_expired", "this upload address has expired").
			WithHint("create another version")
	}
	return svc.Ref{Project: parts[0], Version: parts[1]}, nil
}

var errTooLarge = errors.New("the body is larger than allowed")

// summed hashes what is read through it and stops at a size.
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

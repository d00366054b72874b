package artifact_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/server/versions/artifact"
	"github.com/svcctl/svcctl/internal/svc"
)

// No ticket but one that was issued is accepted, and that one is for its version.
func FuzzTicket(f *testing.F) {
	f.Add("", "shop", "v1", 0, byte(0))
	f.Add("c2hvcC92MS8xNzM0.AAAA", "shop", "v1", 3, byte(1))
	f.Add("a.b.c", "a-b", "1.2_3", 60, byte(128))
	f.Add(".", "p", "v", -1, byte(32))
	var arrived svc.Ref
	bucket := &memstore.Bucket{}
	s := artifact.New(artifact.Config{
		Bucket: bucket, BaseURL: "/v1", Key: []byte("key"), MaxSize: 10, Versions: &versions{},
		Logger: slog.New(slog.DiscardHandler), Arrived: func(r svc.Ref) { arrived = r },
	})
	f.Fuzz(func(t *testing.T, ticket, project, version string, at int, flip byte) {
		if _, err := s.Accept(t.Context(), ticket, strings.NewReader("x"), 1); svc.CodeOf(err) != svc.CodeUploadInvalid {
			t.Fatalf("%q: %v", ticket, err)
		}
		if strings.Contains(project+version, "/") {
			return // no id has one
		}
		ref := svc.Ref{Project: project, Version: version}
		up, err := s.Issue(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		issued := strings.TrimPrefix(up.URL, "/v1/uploads/")
		claim, _, _ := strings.Cut(issued, ".")
		changed := []byte(claim)
		changed[uint(at)%uint(len(changed))] ^= flip
		if string(changed) != claim {
			if _, err := s.Accept(t.Context(), string(changed)+issued[len(claim):], strings.NewReader("x"), 1); !errors.Is(err, svc.Forbidden) {
				t.Errorf("%q in place of %q: %v", changed, claim, err)
			}
		}
		if _, err := s.Accept(t.Context(), issued, strings.NewReader("x"), 1); err != nil || arrived != ref {
			t.Errorf("of %v, for %v: %v", ref, arrived, err)
		}
		if err := bucket.Delete(t.Context(), bundle.Keys(ref)[0]); err != nil {
			t.Fatal(err)
		}
	})
}

package https

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// lookEvery is the time between two looks at the files.
const lookEvery = time.Second

// Pair names the files of a certificate: the chain and the key, both in PEM form.
type Pair struct{ Cert, Key string }

// Files are certificates in files. A changed pair of files is used within a second, for new
// connections. A pair that is not usable is logged once, and the one before stays in use.
type Files struct {
	log *slog.Logger

	mu     sync.Mutex
	looked time.Time
	pairs  []*pair
}

type pair struct {
	Pair
	seen [2]fs.FileInfo // nil for a file that could not be read
	cert *tls.Certificate
	err  error // why the files are not in use; nil if they are
}

// OpenFiles reads pairs of files. The error names the file that is not usable.
func OpenFiles(log *slog.Logger, pairs ...Pair) (*Files, error) {
	f := &Files{log: log, looked: time.Now()}
	for _, names := range pairs {
		p := &pair{Pair: names}
		if p.load(); p.err != nil {
			return nil, p.err
		}
		f.pairs = append(f.pairs, p)
	}
	if len(f.pairs) == 0 {
		return nil, errors.New("no certificate")
	}
	return f, nil
}

// GetCertificate returns the first certificate that fits a handshake, else the first one.
// It is for tls.Config.
func (f *Files) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := f.Find(hello); c != nil {
		return c, nil
	}
	return f.certificates()[0], nil
}

// Find returns the first certificate that fits a handshake, or nil.
func (f *Files) Find(hello *tls.ClientHelloInfo) *tls.Certificate {
	for _, c := range f.certificates() {
		if hello.SupportsCertificate(c) == nil {
			return c
		}
	}
	return nil
}

// certificates returns the certificates in use, after a look at the files.
func (f *Files) certificates() []*tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	look := now.Sub(f.looked) >= lookEvery
	if look {
		f.looked = now
	}
	list := make([]*tls.Certificate, len(f.pairs))
	for i, p := range f.pairs {
		if look && p.changed() {
			f.reload(p)
		}
		list[i] = p.cert
	}
	return list
}

// List describes the certificates.
func (f *Files) List() []svc.Certificate {
	f.certificates()
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]svc.Certificate, len(f.pairs))
	for i, p := range f.pairs {
		leaf := p.cert.Leaf
		list[i] = svc.Certificate{Names: leaf.DNSNames, Issuer: leaf.Issuer.CommonName, NotAfter: leaf.NotAfter, File: p.Cert}
		if p.err != nil {
			list[i].Error = p.err.Error()
		}
	}
	return list
}

func (f *Files) reload(p *pair) {
	if p.load(); p.err != nil {
		f.log.Error("reading changed certificate failed; the one before stays in use", "file", p.Cert, "error", p.err)
		return
	}
	f.log.Info("certificate was read again", "file", p.Cert, "names", p.cert.Leaf.DNSNames, "until", p.cert.Leaf.NotAfter)
}

// changed reports whether a file is another one than at the last load.
func (p *pair) changed() bool {
	for i, path := range []string{p.Cert, p.Key} {
		now, err := os.Stat(path)
		before := p.seen[i]
		switch {
		case err != nil && before == nil: // still missing
		case err != nil, before == nil, !os.SameFile(now, before), !now.ModTime().Equal(before.ModTime()), now.Size() != before.Size():
			return true
		}
	}
	return false
}

// load reads both files. It remembers their state also if they are not usable.
func (p *pair) load() {
	for i, path := range []string{p.Cert, p.Key} {
		p.seen[i], p.err = os.Stat(path)
		if p.err != nil {
			p.seen[i] = nil
			return
		}
	}
	cert, err := tls.LoadX509KeyPair(p.Cert, p.Key)
	if err != nil {
		p.err = fmt.Errorf("certificate %s with key %s: %w", p.Cert, p.Key, err)
		return
	}
	p.cert = &cert
}

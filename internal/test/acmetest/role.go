package acmetest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

// Role is the authority. Its arguments are the files of the certificate and the key of its own
// https, and the time in seconds for which its certificates are valid. It says "READY" with its
// address and that of its name server.
func Role(ctx context.Context, args []string) error {
	cert, err := tls.LoadX509KeyPair(args[0], args[1])
	if err != nil {
		return err
	}
	valid, err := strconv.ParseUint(args[2], 10, 32)
	if err != nil {
		return err
	}
	// Pebble waits, and answers wrongly, at random.
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0", "PEBBLE_AUTHZREUSE": "0"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	zone := &zone{texts: map[string][]string{}, aliases: map[string]string{}}
	names, err := zone.serve(ctx)
	if err != nil {
		return err
	}
	a := &authority{names: names, zone: zone, valid: valid}
	fmt.Println("READY", ln.Addr(), names) //nolint:forbidigo // the protocol of svctest
	server := &http.Server{
		Handler: a, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}
	return server.ServeTLS(ln, "", "")
}

// authority is pebble as soon as the ports are known at which it asks.
type authority struct {
	names   string // address of the name server
	zone    *zone
	valid   uint64 // seconds
	handler atomic.Pointer[http.Handler]
	orders  atomic.Int64
	refuses atomic.Bool
}

// ServeHTTP answers clients of ACME and, below /test, the test.
func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/test/ports":
		a.listenAt(r.FormValue("http"), r.FormValue("https"))
	case "/test/orders":
		fmt.Fprint(w, a.orders.Load())
	case "/test/refuse":
		a.refuses.Store(r.FormValue("on") == "1")
	case "/test/texts":
		fmt.Fprint(w, a.zone.setTexts(r.FormValue("name"), r.Form["text"]))
	case "/test/alias":
		a.zone.setAlias(r.FormValue("name"), r.FormValue("target"))
	default:
		a.acme(w, r)
	}
}

func (a *authority) acme(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/order-plz" {
		a.orders.Add(1)
		if a.refuses.Load() {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusTooManyRequests)
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "urn:ietf:params:acme:error:rateLimited", "detail": "too many", "status": 429})
			return
		}
	}
	if h := a.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "no ports yet", http.StatusServiceUnavailable)
}

// listenAt makes pebble ask at these ports.
func (a *authority) listenAt(plain, secure string) {
	plainPort, _ := strconv.Atoi(plain) // 0 refuses the challenge
	securePort, _ := strconv.Atoi(secure)
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	profiles := map[string]ca.Profile{"default": {Description: "default", ValidityPeriod: a.valid}}
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, profiles)
	checks := va.New(quiet, plainPort, securePort, false, a.names, store)
	front := wfe.New(quiet, store, checks, issuer, []string{"pebble.test"}, false, false, 1, 1)
	handler := http.NewServeMux()
	handler.Handle("/", front.Handler())
	handler.Handle("/roots/", front.ManagementHandler())
	var h http.Handler = handler
	a.handler.Store(&h)
}

package webhooks

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of one try.
const (
	sendLimit   = 15 * time.Second
	dialLimit   = 5 * time.Second
	maxAnswer   = 1 << 10  // bytes of an answer that are kept
	maxHeader   = 16 << 10 // bytes of the header of an answer
	secretStart = "whsec_"
)

// secretOf is the key of the signatures of a webhook in one of its generations.
func secretOf(master []byte, id string, generation int) string {
	key, err := hkdf.Key(sha256.New, master, nil, "svcctl webhook 1/"+id+"/"+strconv.Itoa(generation), 32)
	if err != nil {
		panic(err) // the length is constant
	}
	return secretStart + base64.StdEncoding.EncodeToString(key)
}

// sign returns the header webhook-signature: one signature for each secret.
func sign(id string, at time.Time, body []byte, secrets ...string) string {
	var out []byte
	for _, s := range secrets {
		key, _ := base64.StdEncoding.DecodeString(s[len(secretStart):]) // our own
		m := hmac.New(sha256.New, key)
		m.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		m.Write(body)
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil))...)
	}
	return string(out)
}

var errPrivate = errors.New("the address is of a private network, which webhooks do not reach: see SVC_WEBHOOK_ALLOW")

// newClient returns the client that sends.
func newClient(allowed []netip.Prefix) *http.Client {
	dialer := &net.Dialer{Timeout: dialLimit, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return errPrivate
		}
		addr := at.Addr().Unmap()
		if svc.IsPublicAddress(at.Addr()) || slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return nil
		}
		return errPrivate
	}}
	return &http.Client{
		Timeout: sendLimit,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: dialLimit, ResponseHeaderTimeout: sendLimit, MaxIdleConns: 10, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// try sends a delivery once and fills what came of it.
func (s *Service) try(ctx context.Context, w svc.Webhook, d *svc.WebhookDelivery) {
	d.Attempts++
	d.TriedAt = time.Now()
	d.Status, d.Answer, d.Error = 0, "", ""
	secrets := []string{secretOf(s.deps.Master, w.ID, w.Generation)}
	if w.Generation > 1 && time.Since(w.RotatedAt) < rotation {
		secrets = append(secrets, secretOf(s.deps.Master, w.ID, w.Generation-1))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader([]byte(d.Body)))
	if err != nil {
		d.Error = "the address is not usable"
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "svcctl-webhooks/1")
	r.Header.Set("Webhook-Id", d.ID)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(d.TriedAt.Unix(), 10))
	r.Header.Set("Webhook-Signature", sign(d.ID, d.TriedAt, []byte(d.Body), secrets...))
	resp, err := s.client.Do(r)
	if err != nil {
		d.Error = reason(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // a part of an answer is an answer
	d.Status, d.Answer = resp.StatusCode, text.Clean(string(bytes.ToValidUTF8(body, []byte("?"))))
	d.Delivered = d.Status >= 200 && d.Status < 300
}

// reason says why there is no answer, without the address, which may hold a secret.
func reason(err error) string {
	if errors.Is(err, errPrivate) {
		return errPrivate.Error()
	}
	if failed, is := errors.AsType[net.Error](err); is && failed.Timeout() {
		return "no answer within " + sendLimit.String()
	}
	if resolve, is := errors.AsType[*net.DNSError](err); is {
		return "the name of the receiver was not resolved: " + resolve.Err
	}
	if op, is := errors.AsType[*net.OpError](err); is {
		return op.Op + ": " + op.Err.Error()
	}
	return "the receiver did not answer as HTTP"
}

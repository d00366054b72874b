package acme

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/libdns/libdns"
)

// acmeDNS sets records by the API of acme-dns. It keeps the newest two of an account, at one
// name of its own, to which the names of challenges point by CNAME.
type acmeDNS struct {
	DNS

	client *http.Client
}

// AppendRecords implements libdns.RecordAppender.
func (a *acmeDNS) AppendRecords(ctx context.Context, _ string, records []libdns.Record) ([]libdns.Record, error) {
	for _, r := range records {
		if err := a.update(ctx, r.RR().Data); err != nil {
			return nil, fmt.Errorf("acme-dns: %w", err)
		}
	}
	return records, nil
}

func (a *acmeDNS) update(ctx context.Context, text string) error {
	body, err := json.Marshal(map[string]string{"subdomain": a.Subdomain, "txt": text})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Server+"/update", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-User", a.User)
	req.Header.Set("X-Api-Key", a.Secret.Reveal())
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // for the error, or to keep the connection
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return nil
}

// DeleteRecords implements libdns.RecordDeleter: acme-dns replaces old records itself.
func (a *acmeDNS) DeleteRecords(context.Context, string, []libdns.Record) ([]libdns.Record, error) {
	return nil, nil
}

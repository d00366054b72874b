package svc

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// WebhookFormat is the form of the body that a webhook gets.
type WebhookFormat string

// The formats of webhooks.
const (
	WebhookStandard WebhookFormat = "standard" // Standard Webhooks: type, timestamp, data
	WebhookSlack    WebhookFormat = "slack"    // {"text": a sentence}
	WebhookDiscord  WebhookFormat = "discord"  // {"content": a sentence}
)

// MaxWebhooks is the number of webhooks of a server.
const MaxWebhooks = 100

// The types of events that webhooks get, beside the groups WebhookErrors and WebhookAll.
const (
	WebhookErrors = "errors" // everything that needs a person
	WebhookAll    = "all"
	WebhookTest   = "webhook.test" // sent by a person alone
)

// WebhookTypes returns the types of events that webhooks get.
func WebhookTypes() []string {
	return []string{
		"version.ready", "version.failed", "version.crashed", "version.archived", "version.woken", "version.destroyed",
		"promotion.done", "promotion.failed", "release.done", "release.failed", "release.aborted", "rollback.done", "rollback.failed",
		"project.created", "project.deleted", "server.started", "health.changed",
	}
}

// isWebhookError reports whether a type belongs to the group WebhookErrors.
func isWebhookError(kind string) bool {
	return strings.HasSuffix(kind, ".failed") || slices.Contains([]string{"version.crashed", "release.aborted", "health.changed"}, kind)
}

// Webhook is an address that gets events.
type Webhook struct {
	ID         string
	Project    string // "" for all projects and the server
	URL        string
	Events     []string // types, or groups
	Format     WebhookFormat
	Generation int       // of the secret
	RotatedAt  time.Time // when Generation began; zero for the first
	Cursor     int64     // id of the last event that was looked at
	CreatedAt  time.Time
	CreatedBy  string
	EndedAt    time.Time // when the receiver said that it is gone
}

// Wants reports whether a webhook gets an event of a type of a project.
func (w Webhook) Wants(kind, project string) bool {
	if w.Project != "" && w.Project != project {
		return false
	}
	return slices.ContainsFunc(w.Events, func(e string) bool {
		return e == kind || e == WebhookAll || e == WebhookErrors && isWebhookError(kind)
	})
}

// Validate returns one error for each field that is not valid.
func (w Webhook) Validate() error {
	var fields []FieldError
	if err := checkWebhookURL(w.URL); err != "" {
		fields = append(fields, FieldError{"/url", CodeWebhookInvalid, err})
	}
	known := append(WebhookTypes(), WebhookErrors, WebhookAll)
	if len(w.Events) == 0 {
		fields = append(fields, FieldError{"/events", CodeWebhookInvalid, "no event: use types such as version.failed, or errors, or all"})
	}
	for i, e := range w.Events {
		if !slices.Contains(known, e) {
			fields = append(fields, FieldError{fmt.Sprintf("/events/%d", i), CodeWebhookInvalid, fmt.Sprintf("%q is no event: use one of %s", e, strings.Join(known, ", "))})
		}
	}
	if !slices.Contains([]WebhookFormat{WebhookStandard, WebhookSlack, WebhookDiscord}, w.Format) {
		fields = append(fields, FieldError{"/format", CodeWebhookInvalid, fmt.Sprintf("%q is no format: use standard, slack or discord", string(w.Format))})
	}
	return Invalid(fields)
}

// checkWebhookURL says what is wrong with the address of a webhook, without the address: it may hold a
// secret.
func checkWebhookURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "the address is no URL of http or https"
	case u.User != nil:
		return "the address holds a user name: use a header that the receiver checks, or the signature"
	case len(text) > 2048:
		return "the address has more than 2048 bytes"
	}
	return ""
}

// WebhookDelivery is one event for one webhook.
type WebhookDelivery struct {
	ID        string
	Webhook   string
	Type      string
	Body      string
	CreatedAt time.Time
	Attempts  int
	NextAt    time.Time // of the next try; zero without one
	Delivered bool
	Status    int    // of the last answer; 0 for none
	Answer    string // begin of its body
	Error     string // why there is no answer
	TriedAt   time.Time
}

// WebhookType returns the type under which webhooks get an event; "" for an event that they do not get.
// kind and rollback are those of the promotion of the event.
func WebhookType(e FeedEvent, kind PromotionKind, rollback bool) string {
	switch e.Type {
	case "version.status":
		return ofStatus(e)
	case "version.archived", "version.woken", "version.destroyed", "project.created", "project.deleted", FeedServerStarted, FeedHealth:
		return e.Type
	case FeedRuntimeRestarted:
		return "version.crashed"
	case FeedWatch:
		if e.Data.Status == "aborted" {
			return "release.aborted"
		}
	case "promotion.done":
		return ofPromotion(e, kind, rollback)
	}
	return ""
}

func ofStatus(e FeedEvent) string {
	switch {
	case e.Data.Status == string(StatusFailed):
		return "version.failed"
	case e.Data.Status == string(StatusReady) && Status(e.Data.Previous).InDeploy():
		return "version.ready"
	}
	return ""
}

func ofPromotion(e FeedEvent, kind PromotionKind, rollback bool) string {
	name := "promotion"
	if kind == KindRelease {
		name = "release"
	}
	if rollback {
		name = "rollback"
	}
	switch e.Data.Status {
	case string(PromotionDone):
		return name + ".done"
	case string(PromotionFailed):
		return name + ".failed"
	}
	return ""
}

// IsPublicAddress reports whether an address is of the internet, and not of a machine or its networks.
func IsPublicAddress(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	return !slices.ContainsFunc(specialNetworks(), func(text string) bool { return netip.MustParsePrefix(text).Contains(a) })
}

// specialNetworks are networks of IANA's registries that IsGlobalUnicast does not know. Those of IPv6 that
// carry an IPv4 address (NAT64, 6to4, Teredo) are among them as a whole.
func specialNetworks() []string {
	return []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	}
}

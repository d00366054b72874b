package exchange

import (
	"cmp"
	"net/netip"
	"strconv"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// cfEnd is what request.cf says of every request: no client certificate was presented.
// It is there so that a worker that asks for one refuses the request, and does not fail.
const cfEnd = `"requestPriority":"","tlsClientAuth":{"certPresented":"0","certVerified":"NONE","certRevoked":"0",` +
	`"certIssuerDN":"","certSubjectDN":"","certIssuerDNRFC2253":"","certSubjectDNRFC2253":"","certIssuerDNLegacy":"",` +
	`"certSubjectDNLegacy":"","certSerial":"","certIssuerSerial":"","certSKI":"","certIssuerSKI":"","certFingerprintSHA1":"",` +
	`"certFingerprintSHA256":"","certNotBefore":"","certNotAfter":""}}`

// locationHeaders are the headers in which a proxy says where a visitor is, and where
// their values go.
//
//nolint:gochecknoglobals // a constant table
var locationHeaders = []struct {
	name  string
	field func(*svc.Location) *string
}{
	{"cf-ipcountry", func(l *svc.Location) *string { return &l.Country }},
	{"cf-ipcontinent", func(l *svc.Location) *string { return &l.Continent }},
	{"cf-ipcity", func(l *svc.Location) *string { return &l.City }},
	{"cf-iplatitude", func(l *svc.Location) *string { return &l.Latitude }},
	{"cf-iplongitude", func(l *svc.Location) *string { return &l.Longitude }},
	{"cf-region", func(l *svc.Location) *string { return &l.Region }},
	{"cf-region-code", func(l *svc.Location) *string { return &l.RegionCode }},
	{"cf-metro-code", func(l *svc.Location) *string { return &l.MetroCode }},
	{"cf-postal-code", func(l *svc.Location) *string { return &l.PostalCode }},
	{"cf-timezone", func(l *svc.Location) *string { return &l.Timezone }},
}

// inspectCF takes the headers of Cloudflare: who a visitor is, where, and what Cloudflare has checked
// (CF-Ray, CF-Worker, Cf-Access-Jwt-Assertion and more). It reports whether the worker must not see
// the field: one that is not believed. Cloudflare sets or removes what begins like this, and workers
// believe it.
func (x *Request) inspectCF(f *http1.Field, p *Peer) bool {
	if len(f.Name) < 4 || f.Name[2] != '-' || !http1.EqualFold(f.Name[:2], "cf") {
		return false
	}
	if !p.locates() {
		return true
	}
	if http1.EqualFold(f.Name, "cf-connecting-ip") {
		x.meta.connecting = f.Value
		return true
	}
	for _, h := range locationHeaders {
		if !http1.EqualFold(f.Name, h.name) {
			continue
		}
		if x.meta.location == nil {
			x.meta.location = &svc.Location{}
		}
		*h.field(x.meta.location) = string(f.Value)
		return false
	}
	return false
}

// clientAddress is the address to name as the client's. X-Forwarded-For decides; a proxy
// that sends CF-Connecting-IP alone is believed if its location headers are.
func (x *Request) clientAddress(p *Peer) []byte {
	if len(x.meta.xff) == 0 && len(x.meta.connecting) > 0 {
		if _, err := netip.ParseAddr(string(x.meta.connecting)); err == nil {
			return x.meta.connecting
		}
	}
	return p.client(x.meta.xff)
}

// locate is where the client is: what a proxy says goes before what the database says.
func (x *Request) locate(p *Peer, client []byte) svc.Location {
	var known svc.Location
	if p.by.locate != nil {
		if ip, err := netip.ParseAddr(string(client)); err == nil {
			known = p.by.locate(ip)
		}
	}
	said := x.meta.location
	if said == nil {
		return known
	}
	if said.Country != "" && said.Country != known.Country {
		known = svc.Location{ASN: known.ASN, ASOrganization: known.ASOrganization} // the rest is of another place
	}
	for _, h := range locationHeaders {
		*h.field(&known) = cmp.Or(*h.field(said), *h.field(&known))
	}
	return known
}

// appendCountry appends the country as a header, unless the worker gets the proxy's.
func (x *Request) appendCountry(b []byte, l *svc.Location) []byte {
	if l.Country == "" || x.meta.location != nil && x.meta.location.Country != "" {
		return b
	}
	return append(append(append(b, "CF-IPCountry: "...), l.Country...), '\r', '\n')
}

// appendCF appends request.cf. A key whose value is not known is absent.
func (x *Request) appendCF(b []byte, l *svc.Location) []byte {
	b = append(b, `{"httpProtocol":"HTTP/1.`...)
	b = append(b, '0'+byte(x.Req.Minor), '"', ',') //nolint:gosec // 0 or 1
	for _, f := range [...]struct{ key, value string }{
		{"country", l.Country},
		{"continent", l.Continent},
		{"region", l.Region},
		{"regionCode", l.RegionCode},
		{"city", l.City},
		{"postalCode", l.PostalCode},
		{"metroCode", l.MetroCode},
		{"latitude", l.Latitude},
		{"longitude", l.Longitude},
		{"timezone", l.Timezone},
		{"asOrganization", l.ASOrganization},
	} {
		if f.value != "" {
			b = append(append(append(b, '"'), f.key...), `":`...)
			b = append(appendASCII(b, f.value), ',')
		}
	}
	if l.EU {
		b = append(b, `"isEUCountry":"1",`...)
	}
	if l.ASN != 0 {
		b = append(strconv.AppendUint(append(b, `"asn":`...), uint64(l.ASN), 10), ',')
	}
	return append(b, cfEnd...)
}

// appendASCII appends s as a JSON string that is fit for a header.
func appendASCII(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	unit := func(r rune) {
		b = append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			r -= 0x10000
			unit(0xd800 + r>>10)
			unit(0xdc00 + r&0x3ff)
		default: // utf8.RuneError stands for what is no UTF-8
			unit(r)
		}
	}
	return append(b, '"')
}

package geoip_test

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/edge/geoip"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	city := database(t, object{
		"city": object{"names": object{"en": "Boxford", "de": "Boxfurt"}}, "continent": object{"code": "EU"},
		"country": object{"iso_code": "DE", "is_in_european_union": true}, "postal": object{"code": "OX1"},
		"location":     object{"latitude": 51.75, "longitude": -1.25, "metro_code": 635, "time_zone": "Europe/Berlin"},
		"subdivisions": []any{object{"iso_code": "BE", "names": object{"en": "Berlin"}}},
	})
	asn := database(t, object{"autonomous_system_number": 64512, "autonomous_system_organization": "Example", "country": object{"iso_code": "FR"}})
	db, err := geoip.Open([]string{city, asn}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	all := svc.Location{
		Country: "DE", EU: true, Continent: "EU", Region: "Berlin", RegionCode: "BE", City: "Boxford", PostalCode: "OX1", MetroCode: "635",
		Latitude: "51.75000", Longitude: "-1.25000", Timezone: "Europe/Berlin", ASN: 64512, ASOrganization: "Example",
	}
	for ip, want := range map[string]svc.Location{
		"2001:db8::7": all, "192.0.2.9": all, "::ffff:192.0.2.9": all, "192.0.3.1": {}, "127.0.0.1": {}, "::1": {},
	} {
		if diff := cmp.Diff(want, db.Locate(netip.MustParseAddr(ip))); diff != "" {
			t.Errorf("%s: %s", ip, diff)
		}
	}
}

func TestUnusable(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text.mmdb")
	if err := os.WriteFile(text, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, "/nowhere.mmdb"} {
		if _, err := geoip.Open([]string{file}, nil); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

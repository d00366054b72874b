package geoip

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/svcctl/svcctl/internal/svc"
)

// DB is one or several databases.
type DB struct {
	readers []*maxminddb.Reader
	log     *slog.Logger
}

// Open opens the databases in these files. The error names the file that cannot be used.
func Open(files []string, log *slog.Logger) (*DB, error) {
	d := &DB{log: log}
	for _, file := range files {
		r, err := maxminddb.Open(file)
		if err != nil {
			return nil, fmt.Errorf("open the database of locations %s: %w", file, err)
		}
		d.readers = append(d.readers, r)
	}
	return d, nil
}

// record are the fields of the databases that are read.
type record struct {
	City struct {
		Names names `maxminddb:"names"`
	} `maxminddb:"city"`
	Continent struct {
		Code string `maxminddb:"code"`
	} `maxminddb:"continent"`
	Country struct {
		ISOCode string `maxminddb:"iso_code"`
		EU      bool   `maxminddb:"is_in_european_union"`
	} `maxminddb:"country"`
	Location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
		MetroCode uint     `maxminddb:"metro_code"`
		TimeZone  string   `maxminddb:"time_zone"`
	} `maxminddb:"location"`
	Postal struct {
		Code string `maxminddb:"code"`
	} `maxminddb:"postal"`
	Subdivisions []struct {
		ISOCode string `maxminddb:"iso_code"`
		Names   names  `maxminddb:"names"`
	} `maxminddb:"subdivisions"`
	ASN            uint   `maxminddb:"autonomous_system_number"`
	ASOrganization string `maxminddb:"autonomous_system_organization"`
}

// names are names in English.
type names struct {
	English string `maxminddb:"en"`
}

// Locate gives the place of an address. Where several databases know a field, the first
// one counts. A database that cannot be read counts as one that knows nothing.
func (d *DB) Locate(ip netip.Addr) (l svc.Location) {
	for _, r := range d.readers {
		var found record
		if err := r.Lookup(ip.Unmap()).Decode(&found); err != nil {
			d.log.Debug("cannot look an address up in a database of locations", "error", err)
			continue
		}
		l = found.under(l)
	}
	return l
}

// under is l with what the record knows beside it.
func (r *record) under(l svc.Location) svc.Location {
	region, code := r.region()
	return svc.Location{
		Country: cmp.Or(l.Country, r.Country.ISOCode), EU: l.EU || l.Country == "" && r.Country.EU,
		Continent: cmp.Or(l.Continent, r.Continent.Code), Region: cmp.Or(l.Region, region), RegionCode: cmp.Or(l.RegionCode, code),
		City: cmp.Or(l.City, r.City.Names.English), PostalCode: cmp.Or(l.PostalCode, r.Postal.Code), MetroCode: cmp.Or(l.MetroCode, number(r.Location.MetroCode)),
		Latitude: cmp.Or(l.Latitude, degrees(r.Location.Latitude)), Longitude: cmp.Or(l.Longitude, degrees(r.Location.Longitude)),
		Timezone: cmp.Or(l.Timezone, r.Location.TimeZone),
		ASN:      cmp.Or(l.ASN, r.ASN), ASOrganization: cmp.Or(l.ASOrganization, r.ASOrganization),
	}
}

// region is the largest subdivision of the country.
func (r *record) region() (name, code string) {
	if len(r.Subdivisions) == 0 {
		return "", ""
	}
	return r.Subdivisions[0].Names.English, r.Subdivisions[0].ISOCode
}

func number(n uint) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

func degrees(d *float64) string {
	if d == nil {
		return ""
	}
	return strconv.FormatFloat(*d, 'f', 5, 64)
}

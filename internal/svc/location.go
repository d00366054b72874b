package svc

// Location is the place of a visitor. A field that is not known is empty. The values have
// the forms of request.cf on Cloudflare.
type Location struct {
	Country        string // ISO 3166-1, two upper-case letters
	EU             bool   // the country is in the European Union
	Continent      string // two upper-case letters
	Region         string
	RegionCode     string // ISO 3166-2 without the country
	City           string
	PostalCode     string
	MetroCode      string
	Latitude       string // degrees, five decimals
	Longitude      string
	Timezone       string // "Europe/Berlin"
	ASN            uint   // number of the network; 0 if not known
	ASOrganization string
}

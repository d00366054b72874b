package acme

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/libdns/libdns"
)

// route53DNS sets records in the public hosted zone of a name at AWS.
type route53DNS struct{ api *route53.Client }

func newRoute53(d DNS, client *http.Client) *route53DNS {
	o := route53.Options{
		Region:     "us-east-1", // of Route 53, which has no other
		HTTPClient: client, Credentials: credentials.NewStaticCredentialsProvider(d.User, d.Secret.Reveal(), ""),
	}
	if d.Server != "" {
		o.BaseEndpoint = aws.String(d.Server)
	}
	return &route53DNS{route53.New(o)}
}

// AppendRecords implements libdns.RecordAppender.
func (r *route53DNS) AppendRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	return records, r.each(ctx, zone, records, func(values []string, one string) []string {
		return append(slices.DeleteFunc(values, func(v string) bool { return v == one }), one)
	})
}

// DeleteRecords implements libdns.RecordDeleter.
func (r *route53DNS) DeleteRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	return records, r.each(ctx, zone, records, func(values []string, one string) []string {
		return slices.DeleteFunc(values, func(v string) bool { return v == one })
	})
}

// each changes the values of each record's name. Route 53 has one set of values for a name.
func (r *route53DNS) each(ctx context.Context, zone string, records []libdns.Record, change func(values []string, one string) []string) error {
	id, err := r.zone(ctx, zone)
	if err != nil {
		return fmt.Errorf("zone %s at Route 53: %w", zone, err)
	}
	for _, record := range records {
		rr := record.RR()
		set, err := r.set(ctx, id, libdns.AbsoluteName(rr.Name, zone))
		if err == nil {
			err = r.put(ctx, id, set, change(values(set), strconv.Quote(rr.Data)))
		}
		if err != nil {
			return fmt.Errorf("%s at Route 53: %w", rr.Name, err)
		}
	}
	return nil
}

// zone returns the id of the public zone with a name.
func (r *route53DNS) zone(ctx context.Context, name string) (id *string, err error) {
	out, err := r.api.ListHostedZonesByName(ctx, &route53.ListHostedZonesByNameInput{DNSName: aws.String(name)})
	if err != nil {
		return nil, err
	}
	for _, z := range out.HostedZones {
		if aws.ToString(z.Name) == name && (z.Config == nil || !z.Config.PrivateZone) {
			return z.Id, nil
		}
	}
	return nil, fmt.Errorf("no public zone %s", name)
}

// set returns the texts of a name, which may be none.
func (r *route53DNS) set(ctx context.Context, zone *string, name string) (*types.ResourceRecordSet, error) {
	out, err := r.api.ListResourceRecordSets(ctx, &route53.ListResourceRecordSetsInput{
		HostedZoneId: zone, StartRecordName: aws.String(name), StartRecordType: types.RRTypeTxt, MaxItems: aws.Int32(1),
	})
	if err != nil {
		return nil, err
	}
	for _, s := range out.ResourceRecordSets {
		if aws.ToString(s.Name) == name && s.Type == types.RRTypeTxt {
			return &s, nil
		}
	}
	return &types.ResourceRecordSet{Name: aws.String(name), Type: types.RRTypeTxt, TTL: aws.Int64(int64(recordTTL.Seconds()))}, nil
}

func values(set *types.ResourceRecordSet) (list []string) {
	for _, r := range set.ResourceRecords {
		list = append(list, aws.ToString(r.Value))
	}
	return list
}

// put replaces the values of a set. One without values is deleted.
func (r *route53DNS) put(ctx context.Context, zone *string, set *types.ResourceRecordSet, values []string) error {
	action := types.ChangeActionUpsert
	switch {
	case len(values) == 0 && len(set.ResourceRecords) == 0:
		return nil
	case len(values) == 0:
		action = types.ChangeActionDelete // it wants the values that are there
	default:
		set.ResourceRecords = nil
		for _, v := range values {
			set.ResourceRecords = append(set.ResourceRecords, types.ResourceRecord{Value: aws.String(v)})
		}
	}
	_, err := r.api.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: zone, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action, ResourceRecordSet: set}}},
	})
	return err
}

package controller

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// decideController is the registration of a controller incarnation (KIP-919). Kafka takes whatever ranges it announces, even ones
// that what is finalized lies outside of: that controller stops at the next record that it does not know (KB-32).
func (c *Controller) decideController(r *ControllerRegistration) {
	level := c.timeline.image.MetadataVersion()
	if !features.SupportsControllerRegistration(level) {
		c.outcome.fail(UnsupportedVersion, fmt.Sprintf("%s %d has no registrations of controllers", features.MetadataVersion, level))
		return
	}
	if c.cfg.RefuseOldControllers {
		for _, f := range c.timeline.image.Features() {
			if own := rangeOf(r.Features, f.Name); f.Level < own.Minimum || f.Level > own.Maximum {
				c.outcome.fail(UnsupportedVersion, fmt.Sprintf("controller %d supports %s %d to %d, and %d is in force", r.ControllerID, f.Name,
					own.Minimum, own.Maximum, f.Level))
				return
			}
		}
	}
	m := controllerRecord(r)
	if err := m.Check(0); err != nil {
		c.outcome.fail(InvalidRequest, err.Error())
		return
	}
	c.outcome.records = append(c.outcome.records, m)
}

// rangeOf is what a list of ranges says of a feature, 0 to 0 when it doesn't name it.
func rangeOf(ranges []image.FeatureRange, name string) image.FeatureRange {
	if at := slices.IndexFunc(ranges, func(f image.FeatureRange) bool { return f.Name == name }); at >= 0 {
		return ranges[at]
	}
	return image.FeatureRange{Name: name}
}

func controllerRecord(r *ControllerRegistration) *records.RegisterControllerRecord {
	m := &records.RegisterControllerRecord{
		ControllerId: r.ControllerID, IncarnationId: r.IncarnationID,
		EndPoints: make([]records.ControllerEndpoint, len(r.Listeners)), Features: make([]records.ControllerFeature, len(r.Features)),
	}
	for i := range r.Listeners {
		l := &r.Listeners[i]
		m.EndPoints[i] = records.ControllerEndpoint{Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: l.SecurityProtocol}
	}
	for i := range r.Features {
		f := &r.Features[i]
		m.Features[i] = records.ControllerFeature{Name: f.Name, MinSupportedVersion: f.Minimum, MaxSupportedVersion: f.Maximum}
	}
	return m
}

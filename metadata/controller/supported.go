package controller

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
)

// checkMembers is 5.2, checks 4 and 5: every registered broker, fenced ones too, and from 3.7-IV0 on every registered controller
// has to support the level, and no voter may be without registration. A node that doesn't name a feature has it at 0 only. This
// controller's own ranges were looked at before; what it registered is beside the point.
func (c *Controller) checkMembers(u *FeatureUpdate) error {
	img := c.timeline.image
	for b := range img.Brokers() {
		if err := supports("broker", b.ID, b.FeatureRange(u.Feature), u.Level); err != nil {
			return err
		}
	}
	if !c.cfg.ControllersRegister || !features.SupportsControllerRegistration(img.MetadataVersion()) {
		return nil
	}
	for x := range img.Controllers() {
		if x.ID == c.cfg.NodeID {
			continue
		}
		if err := supports("controller", x.ID, x.FeatureRange(u.Feature), u.Level); err != nil {
			return err
		}
	}
	voters := c.deps.Raft.Voters()
	for at := range voters.Len() {
		if id := voters.At(at).ID; id != c.cfg.NodeID && img.Controller(id) == nil {
			return fmt.Errorf("%s: controller %d has not registered and may not support level %d", u.Feature, id, u.Level)
		}
	}
	return nil
}

func supports(role string, id int32, r image.FeatureRange, level int16) error {
	if level < r.Minimum || level > r.Maximum {
		return fmt.Errorf("%s: level %d is outside of %d to %d, which %s %d supports", r.Name, level, r.Minimum, r.Maximum, role, id)
	}
	return nil
}

package campaign

import (
	"context"
	"errors"
)

// Merge sums up what is in Past, without a run: the parts of a campaign that several machines ran. Seeds that no part has are counted
// as missing. The examples are shortened once more, so that the summary is that of one campaign over all seeds.
func Merge(ctx context.Context, cfg Config) (*Summary, error) {
	if cfg.Seeds <= 0 {
		return nil, errors.New("campaign: only campaigns with a number of seeds have parts to merge")
	}
	c, err := open(cfg)
	if err != nil {
		return nil, err
	}
	defer c.pool.close()
	if err := c.sing(ctx); err != nil {
		return nil, err
	}
	return c.conclude(ctx), nil
}

// missing counts the seeds of a campaign with a number of seeds that are not done.
func (c *campaign) missing() (n int64) {
	if c.Seeds <= 0 {
		return 0
	}
	for stage := range 2 {
		for _, r := range c.fixed(stage) {
			for _, gap := range c.done.open(r) {
				n += gap.Count
			}
		}
	}
	return n
}

package image

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// broker returns the registration that a record speaks of: of that epoch and no other one.
func (d *Delta) broker(id int32, epoch int64, done string) (*Broker, error) {
	b := d.next.Broker(id)
	switch {
	case b == nil:
		return nil, fmt.Errorf("%w: broker %d is %s and was not registered", ErrImpossible, id, done)
	case b.Epoch != epoch:
		return nil, fmt.Errorf("%w: broker %d is %s with epoch %d and was registered with %d", ErrImpossible, id, done, epoch,
			b.Epoch)
	}
	return b, nil
}

func (d *Delta) changeBroker(m *records.BrokerRegistrationChangeRecord) error {
	b, err := d.broker(m.BrokerId, m.BrokerEpoch, "changed")
	if err != nil {
		return err
	}
	next, err := b.changed(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	put(d, &d.next.brokers, idKey(next.ID), next, hashBroker(&next))
	return nil
}

// setFenced is what a change record does, in the form of before metadata.version 6.
func (d *Delta) setFenced(id int32, epoch int64, fenced bool) error {
	b, err := d.broker(id, epoch, "fenced or unfenced")
	if err != nil {
		return err
	}
	next := *b
	next.Fenced = fenced
	put(d, &d.next.brokers, idKey(id), next, hashBroker(&next))
	return nil
}

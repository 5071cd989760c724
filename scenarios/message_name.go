package scenarios

import "github.com/kraftsim/kraftsim/raft/wire"

// messageName is sim.Catalogue.MessageName. A kind of raft's is twice the API key, and one more for the answer.
func messageName(kind uint32) string {
	switch kind {
	case kindRegisterBroker:
		return "BrokerRegistration requests"
	case kindHeartbeat:
		return "BrokerHeartbeat requests"
	case kindRegisterController:
		return "ControllerRegistration requests"
	case kindMemberAnswer:
		return "answers to brokers and registering controllers"
	case kindMemberGreeting:
		return "ApiVersions requests of members"
	case kindMemberVersions:
		return "ApiVersions answers to members"
	case kindClientRequest:
		return "requests of clients"
	case kindClientAnswer:
		return "answers to clients"
	}
	if kind>>1 > 1<<15-1 {
		return ""
	}
	name := wire.Name(int16(kind >> 1))
	if name == "" {
		return ""
	}
	if kind&1 == 1 {
		return name + " answers"
	}
	return name + " requests"
}

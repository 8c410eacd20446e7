/** What features and core's own tools reach of a service that is put together after them. */
import type { Messaging } from "@svc/agent";
import { type Inbound, type Kept, SvcError } from "@svc/contract";
import { receivedEvents } from "@svc/gateway/sop-events";
import type { Registry } from "@svc/kernel";
import type { Approvals, SopDoors, Sops } from "@svc/sop";
import type { Store } from "@svc/store";
import type { FeatureDoors } from "./features.ts";
import type { Governance } from "./governance/governance.ts";

interface Opened {
  readonly messaging: Messaging;
  readonly governance: Governance;
  readonly registry: () => Registry;
}

export class LateDoors implements FeatureDoors, SopDoors {
  #store: Store | undefined;
  #opened: Opened | undefined;

  openStore(store: Store): Store {
    this.#store = store;
    return store;
  }

  open(messaging: Messaging, governance: Governance, registry: () => Registry): void {
    this.#opened = { messaging, governance, registry };
  }

  store(): Store {
    if (!this.#store) throw new SvcError("STORE_FAILED", "The database is not open yet.");
    return this.#store;
  }

  messaging(): Messaging {
    return this.#service().messaging;
  }

  governance(): Governance {
    return this.#service().governance;
  }

  readonly sops = (): Sops => this.governance().sops;
  readonly approvals = (): Approvals => this.governance().approvals;

  async receive(channel: string, messages: readonly Inbound[]): Promise<readonly Kept[]> {
    const { messaging, governance, registry } = this.#service();
    return messaging.receive(channel, messages, receivedEvents(governance.sops, registry().ingress, channel));
  }

  #service(): Opened {
    if (!this.#opened) throw new SvcError("CHANNEL_DOWN", "The service takes no messages yet.");
    return this.#opened;
  }
}

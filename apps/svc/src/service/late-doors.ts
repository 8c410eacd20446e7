/** What features and core's own tools reach of a service that is put together after them. */
import type { Messaging } from "@svc/agent";
import { type Inbound, type Kept, SvcError } from "@svc/contract";
import type { Store } from "@svc/store";
import type { FeatureDoors } from "./features.ts";

export class LateDoors implements FeatureDoors {
  #store: Store | undefined;
  #messaging: Messaging | undefined;

  openStore(store: Store): Store {
    this.#store = store;
    return store;
  }

  openMessaging(messaging: Messaging): Messaging {
    this.#messaging = messaging;
    return messaging;
  }

  store(): Store {
    if (!this.#store) throw new SvcError("STORE_FAILED", "The database is not open yet.");
    return this.#store;
  }

  messaging(): Messaging {
    if (!this.#messaging) throw new SvcError("CHANNEL_DOWN", "The service takes no messages yet.");
    return this.#messaging;
  }

  async receive(channel: string, messages: readonly Inbound[]): Promise<readonly Kept[]> {
    return this.messaging().receive(channel, messages);
  }
}

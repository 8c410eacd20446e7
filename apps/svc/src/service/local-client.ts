/** The identity of whoever sits at this machine and may open the control socket: one for good, minted by the gateway's rule. */
import type { ClientId } from "@svc/contract";
import { mintClientId } from "@svc/gateway/identity";
import type { Store } from "@svc/store";

export async function localClient(store: Store): Promise<ClientId> {
  return (await store.meta.getOrMake("local_client_id", mintClientId)) as ClientId;
}

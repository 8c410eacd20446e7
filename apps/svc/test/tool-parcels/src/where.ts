/** `parcel_where`: a tool that is handed its state. */
import {
  defineTool,
  displayKey,
  type FeatureContext,
  nameInKey,
  type PerClient,
  type SharedHandle,
  SvcError,
  type Tool,
} from "@svc/contract";
import * as v from "valibot";
import type { CarrierApi } from "./carrier.ts";

/** Of one client. */
export interface Customer {
  readonly calls: number;
  /** Of the carrier's, for this client alone; undefined: not opened yet. */
  readonly session?: string;
}

export interface WhereDeps {
  readonly api: CarrierApi;
  readonly account: SharedHandle<string | undefined>;
  readonly customers: PerClient<Customer>;
  /** Places by client and parcel. */
  readonly board: SharedHandle<ReadonlyMap<string, string>>;
  readonly secretsOf: FeatureContext["secretsOf"];
  readonly mostCalls: number;
}

export const where = ({ api, account, customers, board, secretsOf, mostCalls }: WhereDeps): Tool =>
  defineTool({
    name: "parcel_where",
    description: "Says where the parcel with this number is.",
    input: v.strictObject({ parcel: v.pipe(v.string(), v.regex(/^[A-Z0-9-]{1,40}$/)) }),
    approval: "auto",
    async run({ parcel }, { clientId, signal }) {
      const customer = customers.of(clientId);
      const { calls } = await customer.write((own) => {
        if (own.calls >= mostCalls) throw new SvcError("RATE_LIMITED", "This client has asked often enough.");
        return { ...own, calls: own.calls + 1 };
      }, signal);
      // A second call of the same client waits here for the first, and finds its session.
      const { session = "" } = await customer.write(
        async (own) => (own.session === undefined ? { ...own, session: await api.openSession(signal) } : own),
        signal,
      );
      const code = await secretsOf(clientId).get("door-code");
      const place = await api.placeOf(parcel, { session, code }, signal);
      const all = await board.write((entries) => new Map(entries).set(displayKey(clientId, parcel), place), signal);
      const own = [...all.keys()].flatMap((key) => nameInKey(key, clientId) ?? []);
      return { place, calls, own, ofAll: all.size, account: (await account.read((name) => name)) ?? null };
    },
  });

/** A gateway with three paired devices, one of which will be revoked. */
import { Harness, type HarnessOptions } from "./harness.ts";
import { type Answer, call } from "./http.ts";

export async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    lost: harness.device("operator", "lost"),
  };
  const gateway = await harness.start({ ...options, config: { webhook_rate_limit_per_minute: 0, ...options.config } });
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const revoke = (id: string, token = tokens.operator): Promise<Answer> =>
    call(gateway, { method: "DELETE", path: `/api/devices/${id}`, headers: as(token) });
  const status = async (token: string) => (await call(gateway, { path: "/api/status", headers: as(token) })).status;
  const list = async () => (await call(gateway, { path: "/api/devices", headers: as(tokens.operator) })).json.devices;
  return { gateway, tokens, as, revoke, status, list };
}

/** `GET /api/sessions?limit=`: a token sees its own sessions, an operator everybody's, marked with the device. */
import { SvcError, type Json } from "@svc/contract";
import type { SessionService } from "@svc/agent";
import type { Device, SessionSummary } from "@svc/store";
import type { Devices } from "../auth/devices.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export class SessionsView {
  readonly #sessions: SessionService;
  readonly #devices: Devices;

  constructor(sessions: SessionService, devices: Devices) {
    this.#sessions = sessions;
    this.#devices = devices;
  }

  /** Most recently active first. Throws BAD_REQUEST for a limit that is none. */
  list(device: Device, limit: string | undefined): Json {
    const filter = device.scope === "operator" ? {} : { clientId: device.clientId };
    return { sessions: this.#sessions.list(filter, limitOf(limit)).map((session) => this.#shown(session)) };
  }

  /** The ClientId stays inside: it is an identity, not a name. */
  #shown(session: SessionSummary): Json {
    const device = this.#devices.ofClient(session.clientId);
    return {
      id: session.id,
      session_id: session.name,
      device: device ? { id: device.id, name: device.name } : null,
      turns: session.turns,
      created_at: new Date(session.createdAt).toISOString(),
      updated_at: new Date(session.updatedAt).toISOString(),
    };
  }
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw new SvcError("BAD_REQUEST", `limit must be 1 to ${MAX_LIMIT}.`);
  return limit;
}

/**
 * `approved.json`: what somebody agreed to when a plugin was installed. It names the release in force, so that replacing this
 * one file is the whole of an upgrade:
 *
 *     plugins/weather/approved.json
 *     plugins/weather/3f9c2a71b04d/plugin.toml, weather.wasm
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { type Manifest, MANIFEST_FILE, manifestSchema, sha256 } from "./manifest.ts";
import { LIMITS, readPluginFile } from "./plugin-file.ts";

export const APPROVAL_FILE = "approved.json";
/** Folders of releases. */
export const RELEASE_NAME = /^[0-9a-f]{12}$/;

const approvalSchema = v.strictObject({
  /** Of this file's form. */
  format: v.literal(1),
  release: v.pipe(v.string(), v.regex(RELEASE_NAME)),
  /** As it was read then; hosts and limits are taken from here. */
  manifest: manifestSchema,
  /** Of plugin.toml. */
  manifest_sha256: sha256,
  /** Where it came from: a folder, or a URL without its query. */
  source: v.pipe(v.string(), v.maxLength(4096)),
  /** RFC 3339. */
  approved_at: v.pipe(v.string(), v.isoTimestamp()),
});
export type Approval = v.InferOutput<typeof approvalSchema>;

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const approvalText = (approval: Approval): string => `${JSON.stringify(approval, null, 2)}\n`;

/** Throws PLUGIN_CHANGED where there is none, or none that could be ours. */
export async function readApproval(folder: string): Promise<Approval> {
  const file = join(folder, APPROVAL_FILE);
  const bytes = await readPluginFile(file, LIMITS.approval, "Its approval, approved.json,", "PLUGIN_CHANGED");
  const parsed = v.safeParse(approvalSchema, jsonOf(bytes));
  if (parsed.success) return parsed.output;
  throw new SvcError("PLUGIN_CHANGED", "Its approval, approved.json, is not what an install writes.");
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

export interface ApprovedRelease {
  readonly approval: Approval;
  readonly manifest: Manifest;
  /** Absolute. */
  readonly folder: string;
  /** Absolute. */
  readonly wasmFile: string;
}

/** Reads what is in force, and compares it with what was approved. Throws PLUGIN_CHANGED. */
export async function readRelease(pluginFolder: string): Promise<ApprovedRelease> {
  const approval = await readApproval(pluginFolder);
  const { manifest } = approval;
  const folder = join(pluginFolder, approval.release);
  const wasmFile = join(folder, manifest.wasm);
  const toml = await readPluginFile(join(folder, MANIFEST_FILE), LIMITS.manifest, "plugin.toml", "PLUGIN_CHANGED");
  if (hashOf(toml) !== approval.manifest_sha256) throw changed("plugin.toml");
  const wasm = await readPluginFile(wasmFile, LIMITS.wasm, "The wasm file", "PLUGIN_CHANGED");
  if (hashOf(wasm) !== manifest.sha256) throw changed("The wasm file");
  return { approval, manifest, folder, wasmFile };
}

const changed = (what: string): SvcError => new SvcError("PLUGIN_CHANGED", `${what} is not what was approved.`);

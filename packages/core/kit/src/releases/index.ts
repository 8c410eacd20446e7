/** What `svc update`, `install.sh` and the release script agree on: names of files, the manifest and its signature. */
export {
  MANIFEST_FILE,
  parseReleaseManifest,
  type ReleaseBuild,
  releaseFileName,
  type ReleaseManifest,
  SIGNATURE_SUFFIX,
} from "./manifest.ts";
export { parsePublicKey, type PublicKey, verifyMinisign } from "./minisign.ts";
export { compareVersions } from "./versions.ts";

/** A reload: the config is read again, and what depends on a changed section is made anew. */

/** What a reload did, as `svc reload --json` prints it. */
export interface ReloadReport {
  /** Names of the sections that differ. */
  readonly changed: readonly string[];
  /** Features that were registered anew. */
  readonly features: readonly string[];
  /** Keys whose change is in force only after a restart. */
  readonly restart: readonly string[];
  readonly warnings: readonly string[];
}

/** What a backend reads of `[browser]`; the schema is the kernel's. */
export interface BrowserSettings {
  readonly allowed_domains: readonly string[];
  readonly native_headless: boolean;
  readonly chromium_path?: string | undefined;
  readonly agent_browser_path?: string | undefined;
  readonly idle_secs: number;
  readonly computer_use_endpoint: string;
  readonly computer_use_api_key?: string | undefined;
  readonly computer_use_windows: readonly string[];
}

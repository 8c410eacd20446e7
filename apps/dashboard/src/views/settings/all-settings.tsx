/** Every section of the config as a form, found by typing; and the changes that were saved. */
import { useState } from "preact/hooks";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { ConfigField, Fields } from "./field.tsx";
import { Problems, SaveBar } from "./save-bar.tsx";
import { type Field, type SettingsSection, type SettingsState, titleOf } from "./shapes.ts";
import { NamedTables } from "./tables.tsx";
import { type Settings, useSettings } from "./use-settings.ts";

const GROUPS: readonly (readonly [title: string, sections: readonly string[]])[] = [
  ["Agents and models", ["model", "agent", "agents", "prices", "transcription", "tts"]],
  ["Tools and policy", ["security.policy", "tools", "approvals", "sop", "browser", "plugins"]],
  ["Sandbox", ["security.sandbox", "workspace"]],
  ["Network", ["gateway", "security.net", "security.webauthn"]],
  ["Retention and delivery", ["retention", "delivery", "daemon"]],
  ["Observability", ["observability", "log"]],
  ["Secrets", ["secrets"]],
];

export function AllSettings() {
  const settings = useSettings();
  const [text, setText] = useState("");
  return (
    <>
      <Heading title="All settings" />
      <div class="filters">
        <SearchField label="Contains" value={text} onChange={setText} />
        <a href={hrefOf("changes")}>Saved changes</a>
      </div>
      <Shown read={settings.read}>
        {(state) => (
          <>
            <Problems problems={state.problems} />
            {groupsOf(state).map(([title, sections]) => (
              <Group
                key={title}
                title={title}
                sections={sections}
                words={text.trim().toLowerCase()}
                aliases={state.aliases}
              />
            ))}
            {state.absent.length > 0 && text === "" && <Absent state={state} />}
          </>
        )}
      </Shown>
    </>
  );
}

function groupsOf({ sections }: SettingsState): (readonly [string, readonly SettingsSection[]])[] {
  const grouped = GROUPS.map(([title, names]) => [title, sections.filter(({ name }) => names.includes(name))] as const);
  const known = new Set(GROUPS.flatMap(([, names]) => names));
  const channels = sections.filter(({ name }) => name.startsWith("channels_config."));
  const others = sections.filter((section) => !known.has(section.name) && !channels.includes(section));
  return [...grouped, ["Channels", channels] as const, ["Others", others] as const];
}

interface GroupProps {
  readonly title: string;
  readonly sections: readonly SettingsSection[];
  readonly words: string;
  readonly aliases: SettingsState["aliases"];
}

function Group({ title, sections, words, aliases }: GroupProps) {
  const namesOf = ({ name }: SettingsSection): string =>
    Object.keys(aliases)
      .filter((alias) => aliases[alias] === name)
      .join(" ");
  const found = sections.filter((section) => `${textOf(section)} ${namesOf(section)}`.includes(words));
  if (found.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="setting-list">
        {found.map((section) => (
          <li key={section.name}>
            <a href={hrefOf("settings", section.name)}>{titleOf(section)}</a>
            <span class="hint">{section.summary ?? section.fields.map(({ name }) => name).join(", ")}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const textOf = ({ name, title = "", summary = "", fields, item }: SettingsSection): string => {
  const all = (list: readonly Field[] = []): string =>
    list
      .map((field) => `${field.name} ${field.description ?? ""} ${all(field.fields ?? field.item?.fields)}`)
      .join(" ");
  return `${name} ${title} ${summary} ${all(fields)} ${all(item?.fields)}`.replaceAll("_", " ").toLowerCase();
};

function Absent({ state }: { readonly state: SettingsState }) {
  return (
    <Section title="Not in this build">
      <ul class="setting-list">
        {state.absent.map(({ section, flag, build, summary, profiles, planned }) => (
          <li key={`${section} ${flag}`}>
            <strong>{summary}</strong>
            <span class="hint">
              {planned ? "Not written yet." : <Command>{build}</Command>}
              {profiles.length > 0 && !planned && ` or the build ${profiles.join(", ")}`}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function OneSection({ id }: { readonly id: string }) {
  const settings = useSettings();
  const section = settings.read.data?.sections.find(({ name }) => name === id);
  return (
    <>
      <Heading
        title={section ? titleOf(section) : "Settings"}
        start={
          <a class="heading-back" href={hrefOf("settings")}>
            All settings
          </a>
        }
      />
      <Shown read={settings.read}>
        {(state) =>
          section ? (
            <>
              <SaveBar settings={settings} />
              <SectionForm settings={settings} state={state} section={section} />
            </>
          ) : (
            <Empty title="This build has no such section." />
          )
        }
      </Shown>
    </>
  );
}

interface FormProps {
  readonly settings: Settings;
  readonly state: SettingsState;
  readonly section: SettingsSection;
  /** Of its fields; without them all. */
  readonly only?: (field: Field) => boolean;
}

export function SectionForm({ settings, state, section: { path, fields, item }, only = () => true }: FormProps) {
  const shown = fields.filter(only);
  return (
    <form class="setting-form" onSubmit={(event) => event.preventDefault()}>
      {item ? (
        <>
          {shown.map((field) => (
            <ConfigField
              key={field.name}
              settings={settings}
              state={state}
              field={field}
              path={[...path, field.name]}
            />
          ))}
          <NamedTables settings={settings} state={state} path={path} item={item} />
        </>
      ) : (
        <Fields settings={settings} state={state} path={path} fields={shown} />
      )}
    </form>
  );
}

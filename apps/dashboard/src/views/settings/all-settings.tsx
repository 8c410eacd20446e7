/** A form for every section of the config, with a search. */
import type { Settings, SettingsField, SettingsSection } from "@svc/api";
import { useState } from "preact/hooks";
import { SearchField } from "../../components/fields.tsx";
import { Command, Empty, Heading, Section } from "../../components/layout.tsx";
import { Shown } from "../../components/shown.tsx";
import { HelpText } from "../../components/text.tsx";
import { hrefOf } from "../../state/route.ts";
import { labelOf } from "../../texts/setting-texts.ts";
import { type PlainKey, t } from "../../texts/texts.ts";
import { type SettingsEditor, useSettings } from "./draft.ts";
import { ConfigField, Fields, NamedTables } from "./field.tsx";
import { titleOf } from "./keys.ts";
import { Problems, SaveBar } from "./save-bar.tsx";

const GROUPS: readonly (readonly [title: PlainKey, sections: readonly string[]])[] = [
  ["settings.agents-and-models", ["model", "agent", "agents", "prices", "transcription", "tts"]],
  ["settings.tools-and-policy", ["security.policy", "tools", "approvals", "sop", "browser", "plugins"]],
  ["common.sandbox", ["security.sandbox", "workspace"]],
  ["settings.network", ["gateway", "security.net", "security.webauthn"]],
  ["settings.retention-and-delivery", ["retention", "delivery", "daemon"]],
  ["settings.observability", ["observability", "log"]],
  ["settings.secrets", ["secrets"]],
];

export function AllSettings() {
  const settings = useSettings();
  const [text, setText] = useState("");
  return (
    <>
      <Heading title={t("common.all-settings")} />
      <div class="filters">
        <SearchField label={t("common.contains")} value={text} onChange={setText} />
        <a href={hrefOf("changes")}>{t("common.saved-changes")}</a>
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

function groupsOf({ sections }: Settings): (readonly [string, readonly SettingsSection[]])[] {
  const grouped = GROUPS.map(
    ([title, names]) => [t(title), sections.filter(({ name }) => names.includes(name))] as const,
  );
  const known = new Set(GROUPS.flatMap(([, names]) => names));
  const channels = sections.filter(({ name }) => name.startsWith("channels_config."));
  const others = sections.filter((section) => !known.has(section.name) && !channels.includes(section));
  return [...grouped, [t("common.channels"), channels] as const, [t("settings.others"), others] as const];
}

interface GroupProps {
  readonly title: string;
  readonly sections: readonly SettingsSection[];
  readonly words: string;
  readonly aliases: Settings["aliases"];
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
            <span class="hint">
              {section.summary === undefined ? (
                section.fields.map(({ name }) => labelOf(name)).join(", ")
              ) : (
                <HelpText>{section.summary}</HelpText>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const textOf = (section: SettingsSection): string => {
  const { name, title = "", summary = "", fields, item } = section;
  const all = (list: readonly SettingsField[] = []): string =>
    list
      .map(
        (field) =>
          `${field.name} ${labelOf(field.name)} ${field.description ?? ""} ${all(field.fields ?? field.item?.fields)}`,
      )
      .join(" ");
  return `${name} ${title} ${titleOf(section)} ${summary} ${all(fields)} ${all(item?.fields)}`
    .replaceAll("_", " ")
    .toLowerCase();
};

function Absent({ state }: { readonly state: Settings }) {
  return (
    <Section title={t("settings.not-in-this-build")}>
      <ul class="setting-list">
        {state.absent.map(({ section, flag, build, summary, profiles, planned }) => (
          <li key={`${section} ${flag}`}>
            <strong>
              <HelpText>{summary}</HelpText>
            </strong>
            <span class="hint">
              {planned ? t("common.not-written-yet") : <Command>{build}</Command>}
              {profiles.length > 0 && !planned && ` ${t("settings.or-the-build", { profiles: profiles.join(", ") })}`}
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
        title={section ? titleOf(section) : t("common.settings")}
        start={
          <a class="heading-back" href={hrefOf("settings")}>
            {t("common.all-settings")}
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
            <Empty title={t("settings.this-build-has-no-such")} />
          )
        }
      </Shown>
    </>
  );
}

interface FormProps {
  readonly settings: SettingsEditor;
  readonly state: Settings;
  readonly section: SettingsSection;
  /** Only these fields; by default all. */
  readonly only?: (field: SettingsField) => boolean;
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

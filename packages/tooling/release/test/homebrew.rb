# What Homebrew does with a formula, as far as svc.rb asks for it: the class is read for one system, the downloaded file is unpacked into a
# folder of its own, `install` and `test do` run there. Prints what the formula says as JSON.
#   ruby homebrew.rb <svc.rb> <macos|linux> <arm|intel> [<prefix> <downloaded .gz>]
require "json"
require "open3"
require "pathname"
require "zlib"

FILE, OS, CPU, PREFIX, DOWNLOAD = ARGV
SAID = {}

class Pathname
  def install(files)
    mkpath
    (files.is_a?(Hash) ? files : { files => File.basename(files) }).each do |from, name|
      raise "there is no file to install" if from.nil?
      File.rename(from, self / name)
    end
  end

  def install_symlink(file)
    mkpath
    (self / file.basename).make_symlink(file.relative_path_from(self))
  end
end

class Formula
  class << self
    %i[desc homepage license].each { |name| define_method(name) { |value| SAID[name] = value } }
    %i[url sha256 version].each do |name|
      define_method(name) { |value = nil| value ? (raise "#{name} twice" if SAID[name]; SAID[name] = value) : SAID[name] }
    end
    %i[macos linux].each { |os| define_method("on_#{os}") { |&block| block.call if os.to_s == OS } }
    %i[arm intel].each { |cpu| define_method("on_#{cpu}") { |&block| block.call if cpu.to_s == CPU } }
    def service(&block) = Class.new { def run(words) = SAID[:service] = words.map(&:to_s)
                                      def keep_alive(**rule) = SAID[:keep_alive] = rule
                                      def opt_bin = Pathname("/opt/bin") }.new.instance_eval(&block)
    def test(&block) = define_method(:run_test, &block)
  end

  def version = SAID[:version]
  def prefix = Pathname(PREFIX)
  def bin = prefix / "bin"
  def libexec = prefix / "libexec"
  def chmod(mode, file) = File.chmod(mode, file)

  def generate_completions_from_executable(program, *words)
    SAID[:completions] = %w[bash zsh fish].to_h do |shell|
      text, status = Open3.capture2(program.to_s, *words, shell)
      raise "#{shell}: no completions" unless status.success?
      [shell, text.bytesize]
    end
  end

  def shell_output(line)
    text, status = Open3.capture2(line)
    raise "#{line}: #{status}" unless status.success?
    text
  end

  def assert_match(wanted, text) = (raise "#{wanted} is not in #{text}" unless text.include?(wanted); SAID[:tested] = text)
end

load FILE
if DOWNLOAD
  work = Pathname(PREFIX) / "work"
  work.mkpath
  Dir.chdir(work) do
    File.binwrite(File.basename(DOWNLOAD, ".gz"), Zlib::GzipReader.open(DOWNLOAD, &:read))
    formula = Svc.new
    formula.install
    formula.run_test
  end
end
puts JSON.generate(SAID)

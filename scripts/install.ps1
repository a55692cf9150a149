# Installs runner on Windows: downloads the program, verifies its checksum, and puts it into
# $env:RUNNER_INSTALL, by default ~\.local\bin. It needs no administrator, and leaves nothing behind
# when anything goes wrong.
#
#   ./install.ps1            the latest release
#   ./install.ps1 1.2.3      that release
#
# RUNNER_RELEASES is where releases are; a release fills it in below.
param([string] $Version = "latest")

$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12

$releases = if ($env:RUNNER_RELEASES) { $env:RUNNER_RELEASES } else { "@RELEASES@" }
if ($releases.StartsWith("@")) {
  throw "RUNNER_RELEASES is not set: set it to the page of the releases, https://.../releases"
}
$from = switch -Regex ($Version) {
  "^latest$" { "$releases/latest/download" }
  "^v\d" { "$releases/download/$Version" }
  "^\d" { "$releases/download/v$Version" }
  default { throw "`"$Version`" is no version: write it like 1.2.3, or leave it out for the latest" }
}
if (-not [Environment]::Is64BitOperatingSystem) { throw "there is no program for 32-bit Windows" }

# On ARM the program for x64 runs as well.
$name = "runner-windows-x64.exe"
$folder = if ($env:RUNNER_INSTALL) { $env:RUNNER_INSTALL } else { Join-Path $HOME ".local\bin" }
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
try {
  $sums = Join-Path $work "SHA256SUMS"
  $file = Join-Path $work $name
  Invoke-WebRequest -UseBasicParsing "$from/SHA256SUMS" -OutFile $sums
  $line = Get-Content $sums | Where-Object { $_ -match "^([0-9a-f]{64})[ *]+$([Regex]::Escape($name))$" }
  if (-not $line) { throw "the release has no ${name}: $from/SHA256SUMS does not name it" }
  $wanted = $line.Substring(0, 64)
  Invoke-WebRequest -UseBasicParsing "$from/$name" -OutFile $file
  $found = (Get-FileHash -Algorithm SHA256 $file).Hash.ToLowerInvariant()
  if ($found -ne $wanted) {
    throw "the download of $name is damaged: its checksum is $found, and should be $wanted"
  }
  New-Item -ItemType Directory -Force -Path $folder | Out-Null
  Move-Item -Force $file (Join-Path $folder "runner.exe")
} finally {
  Remove-Item -Recurse -Force $work
}

Write-Output "installed $(Join-Path $folder "runner.exe")"
if (($env:PATH -split ";") -notcontains $folder) {
  Write-Output "add it to your PATH: `$env:PATH = `"$folder;`$env:PATH`""
}

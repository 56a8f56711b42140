"""Which package of the system a build log asks for: a header, a tool or a library that is not on this machine. Pure.

The names are those of Debian and Ubuntu, where most people build; elsewhere they tell at least what to look for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_LINE_LENGTH: Final = 200

# By the beginning of a header's path, or the name of a tool, a pkg-config module or a linked library.
_PACKAGES: Final[Mapping[str, str]] = {
    "pg_config": "libpq-dev", "libpq-fe.h": "libpq-dev", "libpq": "libpq-dev", "pq": "libpq-dev",
    "mysql_config": "default-libmysqlclient-dev", "mysqlclient": "default-libmysqlclient-dev",
    "mysql.h": "default-libmysqlclient-dev", "mariadb_config": "libmariadb-dev", "mariadb": "libmariadb-dev",
    "libxml/": "libxml2-dev", "libxml2": "libxml2-dev", "libxml-2.0": "libxml2-dev", "xml2": "libxml2-dev",
    "xml2-config": "libxml2-dev",
    "libxslt/": "libxslt1-dev", "libxslt": "libxslt1-dev", "xslt": "libxslt1-dev", "xslt-config": "libxslt1-dev",
    "xmlsec1": "libxmlsec1-dev", "xmlsec/": "libxmlsec1-dev",
    "ffi.h": "libffi-dev", "libffi": "libffi-dev", "ffi": "libffi-dev",
    "lber.h": "libldap-dev", "ldap.h": "libldap-dev", "ldap_r": "libldap-dev", "sasl/": "libsasl2-dev",
    "openssl/": "libssl-dev", "openssl": "libssl-dev", "ssl": "libssl-dev", "crypto": "libssl-dev",
    "cairo.h": "libcairo2-dev", "cairo": "libcairo2-dev", "pango": "libpango1.0-dev",
    "pangocairo": "libpango1.0-dev", "glib-2.0": "libglib2.0-dev", "glib.h": "libglib2.0-dev",
    "gobject-introspection-1.0": "libgirepository1.0-dev", "girepository-2.0": "libgirepository-2.0-dev",
    "jpeglib.h": "libjpeg-dev", "jpeg": "libjpeg-dev", "zlib.h": "zlib1g-dev", "zlib": "zlib1g-dev",
    "z": "zlib1g-dev", "png.h": "libpng-dev", "libpng": "libpng-dev", "tiff.h": "libtiff-dev",
    "ft2build.h": "libfreetype-dev", "freetype2": "libfreetype-dev", "freetype": "libfreetype-dev",
    "pixman-1": "libpixman-1-dev", "gif_lib.h": "libgif-dev", "webp/": "libwebp-dev",
    "gmp.h": "libgmp-dev", "gmp": "libgmp-dev", "mpfr.h": "libmpfr-dev", "mpc.h": "libmpc-dev",
    "hdf5.h": "libhdf5-dev", "hdf5": "libhdf5-dev", "netcdf.h": "libnetcdf-dev", "sqlite3.h": "libsqlite3-dev",
    "curl/": "libcurl4-openssl-dev", "curl-config": "libcurl4-openssl-dev", "libcurl": "libcurl4-openssl-dev",
    "python.h": "python3-dev", "yaml.h": "libyaml-dev", "bzlib.h": "libbz2-dev", "lzma.h": "liblzma-dev",
    "snappy-c.h": "libsnappy-dev", "snappy": "libsnappy-dev", "lz4.h": "liblz4-dev", "zstd.h": "libzstd-dev",
    "sql.h": "unixodbc-dev", "sqlext.h": "unixodbc-dev", "odbc": "unixodbc-dev",
    "graphviz/": "libgraphviz-dev", "portaudio.h": "portaudio19-dev", "alsa/": "libasound2-dev",
    "event.h": "libevent-dev", "ev.h": "libev-dev", "gssapi/": "libkrb5-dev", "krb5-config": "libkrb5-dev",
    "krb5.h": "libkrb5-dev", "systemd/": "libsystemd-dev", "libsystemd": "libsystemd-dev",
    "dbus-1": "libdbus-1-dev", "dbus/": "libdbus-1-dev", "security/pam": "libpam0g-dev",
    "geos_c.h": "libgeos-dev", "geos-config": "libgeos-dev", "gdal-config": "libgdal-dev", "gdal": "libgdal-dev",
    "gdal.h": "libgdal-dev", "proj.h": "libproj-dev", "proj": "libproj-dev", "blas": "libopenblas-dev",
    "openblas": "libopenblas-dev", "lapack": "liblapack-dev", "cblas.h": "libopenblas-dev", "fftw3.h": "libfftw3-dev",
    "boost/": "libboost-dev", "eigen3/": "libeigen3-dev", "secp256k1.h": "libsecp256k1-dev", "zmq.h": "libzmq3-dev",
    "libzmq": "libzmq3-dev", "rdkafka.h": "librdkafka-dev", "librdkafka/": "librdkafka-dev", "re2/": "libre2-dev",
    "pcre.h": "libpcre3-dev", "sodium.h": "libsodium-dev", "libsodium": "libsodium-dev", "vips/": "libvips-dev",
    "vips": "libvips-dev", "usb.h": "libusb-dev", "libusb.h": "libusb-1.0-0-dev", "x11/": "libx11-dev",
    "tk.h": "tk-dev", "magic.h": "libmagic-dev", "opencc": "libopencc-dev", "uuid/": "uuid-dev",
    "gcc": "build-essential", "cc": "build-essential", "g++": "build-essential", "c++": "build-essential",
    "make": "build-essential", "x86_64-linux-gnu-gcc": "build-essential", "aarch64-linux-gnu-gcc": "build-essential",
    "clang": "clang", "gfortran": "gfortran", "cmake": "cmake", "ninja": "ninja-build", "swig": "swig",
    "pkg-config": "pkg-config", "rustc": "rustc and cargo", "cargo": "rustc and cargo", "git": "git", "hg": "mercurial",
    "autoreconf": "autoconf", "libtoolize": "libtool", "flex": "flex", "bison": "bison", "protoc":
    "protobuf-compiler",
    "java": "default-jre-headless", "python": "python3", "python2": "python2", "patch": "patch", "unzip": "unzip",
    "go": "golang-go",
}  # fmt: skip

_TOOLS: Final = (
    r"gcc|g\+\+|cc|c\+\+|clang|cmake|ninja|make|swig|pkg-config|rustc|cargo|gfortran|git|hg|autoreconf|libtoolize|flex|"
    r"bison|protoc|java|patch|unzip|go"
)
# Each names in its first group what is missing, in the order of how telling they are.
_SIGNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"fatal error: ['\"]?([\w./+-]+\.h(?:pp|xx)?)['\"]?(?:: No such file| file not found)",
        r"\b(\w+[_-]config)(?: executable)?:? (?:command )?(?:is )?not found",
        r"\b(pg_config) is required to build",
        r"No such file or directory: '(\w+[_-]config)'",
        r"Please make sure the (libxml2) and libxslt development packages are installed",
        r"Package '?([\w.+-]+)'?(?:,.*)? (?:was )?not found in the pkg-config search path",
        r"No package '([\w.+-]+)' found",
        r"Can not find valid pkg-config name|Dependency \"?([\w.+-]+)\"? not found",
        r"Dependency lookup for ([\w.+-]+) .*failed",
        r"cannot find -l([\w+-]+)",
        r"Could not find a package configuration file provided by \"([\w.+-]+)\"",
        r"Could NOT find ([\w.+-]+)",
        r"error while loading shared libraries: (lib[\w.+-]+)",
        r"ImportError: (lib[\w.+-]+\.so[\w.]*): cannot open shared object",
        r"can't find (Rust) compiler",
        r"(Cargo), the Rust package manager, is not installed",
        r"command '?(?:\S*/)?([\w+-]+)'? failed: No such file",
        r"(?:unable to execute|error: command) '?(?:\S*/)?([\w+-]+)'?: No such file",
        rf"\b({_TOOLS}): (?:command )?not found",
        rf"No such file or directory: '({_TOOLS})'",
        r"No (CMAKE)_\w+_COMPILER could be found",
        r"not found: (make|cc|g\+\+)\b",
        r"Unknown compiler\(s\): \[+'?(\w+)",
        r"gyp ERR! find (Python)\b.*(?:not found|no usable|is not set|You need)",
        r"Git executable not found|(git) is not installed|Cannot find command '(git)'",
        r"could not find (?:the )?(lib[\w-]+) (?:header|library|development)",
        r"(\S+) development headers",
    )
)
# A header of the interpreter's own insides: another interpreter is missing, not a package.
_OF_PYTHON: Final = re.compile(r"longintrepr\.h|frameobject\.h|code\.h|pycore_\w+\.h|structmember\.h")
# As the signs spell them: "No CMAKE_CXX_COMPILER" lacks a compiler, "cmake: not found" lacks cmake.
_ALIASES: Final[Mapping[str, str]] = {"Rust": "rustc", "CMAKE": "g++", "default": "cc"}


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemNeed:
    """What is missing: the thing as the log names it, the package that holds it (else the thing), and the line."""

    thing: str
    package: str
    line: str

    @property
    def remedy(self) -> str:
        """What to do about it, in a sentence."""
        if self.package == self.thing and self.package not in _PACKAGES.values():
            return f"install the package of this system that holds {self.thing}, then run again"
        return f"install it (Debian and Ubuntu: apt install {self.package.replace(' and ', ' ')}), then run again"


def system_need(text: str) -> SystemNeed | None:
    """Return the first package of the system that a log asks for, or None."""
    lines = [line.strip() for line in text.splitlines()]
    for sign in _SIGNS:
        for line in lines:
            match = sign.search(line)
            if match and not _OF_PYTHON.search(line):
                thing = next((group for group in match.groups() if group), "git" if "Git" in line else "a library")
                return SystemNeed(thing=thing, package=package_of(thing), line=line[:_LINE_LENGTH])
    return None


def package_of(thing: str) -> str:
    """Return the package that holds a header, tool, module or library; the thing itself where that is not known."""
    name = _ALIASES.get(thing, thing).lower()
    shared = re.fullmatch(r"lib([\w+-]+?)(?:[.-][\d.]*)?\.so[\d.]*", name)
    for known in (name, *([shared[1]] if shared else ()), name.rpartition("/")[2]):
        if known in _PACKAGES:
            return _PACKAGES[known]
    beginning = next((key for key in _PACKAGES if key.endswith("/") and name.startswith(key)), "")
    return _PACKAGES[beginning] if beginning else thing

package NginxTest::Server;

# The nginx under test: writes its configuration, starts it, stops it, reads its
# log.  Part of the runner in Test/Nginx/Socket.pm.  It ends only the process
# whose number nginx itself wrote into its pid file.

use strict;
use warnings;

use Cwd ();
use Exporter 'import';
use File::Basename ();
use File::Path ();
use POSIX ();
use Time::HiRes qw(sleep);

our @EXPORT = qw(server);

my $Server;


sub server {
    return $Server if $Server;

    my $port = $ENV{TEST_NGINX_PORT} || $ENV{TEST_NGINX_SERVER_PORT} || 1984;
    my $root = $ENV{TEST_NGINX_SERVROOT}
        || Cwd::cwd() . '/t/servroot' . ($port == 1984 ? '' : "_$port");

    $ENV{TEST_NGINX_SERVER_PORT} = $port;
    $ENV{TEST_NGINX_SERVROOT} = $root;
    $ENV{TEST_NGINX_HTML_DIR} = "$root/html";

    $Server = bless {
        binary => $ENV{TEST_NGINX_BINARY} || 'nginx',
        port => $port, root => $root, master => 'off', workers => 1,
        connections => 64, log_level => 'debug', root_location => 1,
    }, __PACKAGE__;

    return $Server;
}


# $TEST_NGINX_NAME in a test's text; $ServerPort as the original knows it.
sub expand {
    my ($self, $text) = @_;

    return '' unless defined $text;

    $text =~ s/\$\{?(TEST_NGINX_[A-Z0-9_]+)\}?/
        defined $ENV{$1} ? $ENV{$1}
                         : Test::More::BAIL_OUT("no variable $1")/ge;
    $text =~ s/\$ServerPort\b/$self->{port}/g;

    return $text;
}


# Whether it runs already, with the very configuration of this block: starting it
# takes longer than most blocks do.  What was logged before is another block's.
sub reuse {
    my ($self, %block) = @_;

    return 0 unless $self->{running} && !defined $block{user_files}
        && $self->{running} eq $self->conf_text(%block);

    $self->log_lines;
    $self->{log_mark} = $self->{log_seen};

    return 1;
}


sub configure {
    my ($self, %block) = @_;
    my $root = $self->{root};

    $self->stop;
    $self->{log_mark} = $self->{log_seen} = 0;
    $self->{fresh} = defined $block{user_files} ? '' : $self->conf_text(%block);
    File::Path::remove_tree($root);
    File::Path::make_path(map { "$root/$_" } qw(conf html logs));

    write_file("$root/html/index.html", '<html><head><title>It works!</title>'
               . '</head><body>It works!</body></html>');
    $self->write_user_files($block{user_files});
    write_file("$root/conf/nginx.conf", $self->conf_text(%block));
}


sub conf_text {
    my ($self, %block) = @_;
    my $root = $self->{root};
    my $main = $self->expand($block{main_config});
    my $http = $self->expand($block{http_config});
    my $config = $self->expand($block{config});
    my $level = $block{log_level} // $self->{log_level};
    my $http2 = defined $block{http2} ? ' http2' : '';
    my $load = join '', map { "load_module $_;\n" }
        split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $temp = join '', map { $http =~ /\b${_}_temp_path\b/ ? ''
                              : "    ${_}_temp_path $root/${_}_temp;\n" }
        qw(client_body proxy fastcgi uwsgi scgi);
    my $user = $> == 0 && $main !~ /^\s*user\s/m ? 'user root;' : '';
    my $slash = $self->{root_location}
        ? "location / { root $root/html; index index.html index.htm; }" : '';

    $level =~ s/\s+//g;

    return <<"CONF";
$load
daemon on;
master_process $self->{master};
worker_processes $self->{workers};
error_log $root/logs/error.log $level;
pid $root/logs/nginx.pid;
$user
env ASAN_OPTIONS;
$main
events {
    accept_mutex off;
    worker_connections $self->{connections};
}
http {
    access_log $root/logs/access.log;
$temp
    default_type text/plain;
    keepalive_timeout 68s;
$http
    server {
        listen $self->{port}$http2;
        server_name localhost;
        client_max_body_size 30M;
$config
        $slash
    }
}
CONF
}


# ">>> path [date]" lines and text between them, or an array of [path, text].
sub write_user_files {
    my ($self, $files) = @_;

    return unless defined $files;

    my @files = ref $files ? @$files
        : map { /^\s*(\S+)[^\n]*\n(.*)/s ? [$1, $2] : () }
          split /^>>>/m, $files;

    for my $file (@files) {
        my ($path, $text) = @$file;
        $path = "$self->{root}/html/$path" unless $path =~ m{^/};
        File::Path::make_path(File::Basename::dirname($path));
        write_file($path, $self->expand($text));
    }
}


# Returns the exit code and what was said on stderr.
sub start {
    my $self = shift;
    my @command = ($self->{binary}, '-p', "$self->{root}/", '-c',
                   "$self->{root}/conf/nginx.conf");

    pipe my $reader, my $writer or die "pipe: $!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        close $reader;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$self->{root}/logs/stdout";
        open STDERR, '>&', $writer;
        $ENV{LD_PRELOAD} = $ENV{TEST_NGINX_LD_PRELOAD}
            if $ENV{TEST_NGINX_LD_PRELOAD};
        exec @command or POSIX::_exit(127);
    }

    close $writer;
    waitpid $pid, 0;

    my $rc = $? & 127 ? 128 + ($? & 127) : $? >> 8;

    # not to the end of file: a daemon may keep its stderr open
    $reader->blocking(0);
    sysread $reader, my $stderr, 65536;
    $self->{running} = $rc ? '' : $self->{fresh};

    return ($rc, $stderr // '');
}


sub stop {
    my $self = shift;

    $self->{running} = '';

    my ($pid) = read_file("$self->{root}/logs/nginx.pid") =~ /^(\d+)/
        or return;

    for my $signal ('QUIT', 'TERM', 'KILL') {
        kill $signal, $pid;

        for (1 .. 300) {
            my $state = read_file("/proc/$pid/stat");

            if ($state eq '' || $state =~ /\) [ZX]/) {
                unlink "$self->{root}/logs/nginx.pid" if $signal eq 'KILL';
                return;
            }

            sleep(0.01);
        }
    }
}


# The lines since the last mark: each response is checked against its own.
sub log_lines {
    my $self = shift;
    my $text = read_file("$self->{root}/logs/error.log");

    $self->{log_seen} = length $text;

    return split /^/, substr($text, $self->{log_mark});
}


sub mark_log {
    my $self = shift;

    $self->{log_mark} = $self->{log_seen} unless $self->{log_whole};
}


sub append_log {
    my ($self, $text) = @_;

    open my $out, '>>:raw', "$self->{root}/logs/error.log"
        or die "error.log: $!";
    print $out $text;
    close $out;
}


# < 0, 0, > 0: the nginx under test is older, equal, newer.
sub compare_version {
    my ($self, $version) = @_;

    unless ($self->{version}) {
        my $text = `'$self->{binary}' -v 2>&1`;
        ($self->{version}) = $text =~ m{nginx/([\d.]+)};
    }

    my @have = split /\./, $self->{version};
    my @want = split /\./, $version;

    for my $i (0 .. 2) {
        my $cmp = ($have[$i] // 0) <=> ($want[$i] // 0);
        return $cmp if $cmp;
    }

    return 0;
}


sub read_file {
    my $path = shift;

    open my $in, '<:raw', $path or return '';
    local $/;
    my $text = <$in>;

    return defined $text ? $text : '';
}


sub write_file {
    my ($path, $text) = @_;

    open my $out, '>:raw', $path or die "$path: $!";
    print $out $text;
    close $out or die "$path: $!";
}

1;

package Test::Nginx::Socket;

# A small runner for test files in the format of Test::Nginx::Socket, on
# Debian's Test::Base.  It is used where the original is not installed; the
# files under t/ run unchanged under both.  The sections and the number of
# assertions each makes follow the original's documentation; a section it does
# not know stops the file instead of passing unchecked.
#
# Environment: TEST_NGINX_BINARY, TEST_NGINX_LOAD_MODULES, TEST_NGINX_PORT,
# TEST_NGINX_SERVROOT, TEST_NGINX_TIMEOUT, TEST_NGINX_LD_PRELOAD (for nginx
# alone; sanitizer builds).

use strict;
use warnings;
use Test::Base -Base;

use NginxTest::Http;
use NginxTest::Server;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(
    add_block_preprocessor bail_out blocks check_accum_error_log html_dir log_level master_off
    master_on no_long_string no_root_location no_shuffle plan repeat_each
    run_tests server_port server_root timeout worker_connections workers
);

# What a block may hold.  Anything else is a mistake in the test file.
my %Known = map { $_ => 1 } qw(
    name description ONLY SKIP LAST
    main_config http_config config user_files log_level skip_nginx skip_eval
    must_die request more_headers raw_request raw_request_middle_delay
    pipelined_requests http2 timeout abort wait ignore_response
    error_code error_code_like response_headers response_headers_like
    raw_response_headers_like raw_response_headers_unlike response_body
    response_body_like response_body_unlike
    error_log no_error_log grep_error_log grep_error_log_out
    shutdown_error_log no_shutdown_error_log
);

my $Repeat = 1;
my $Timeout = $ENV{TEST_NGINX_TIMEOUT} || 3;
my @Preprocessors;

sub repeat_each()       { $Repeat = shift if @_; return $Repeat }
sub timeout()           { $Timeout = shift if @_; return $Timeout }
sub no_long_string()    { }
sub no_shuffle()        { }
sub no_root_location()  { server()->{root_location} = 0 }
sub log_level($)        { server()->{log_level} = shift }
sub workers($)          { server()->{workers} = shift }
sub worker_connections($) { server()->{connections} = shift }
sub check_accum_error_log() { server()->{log_whole} = 1 }
sub master_on()         { server()->{master} = 'on' }
sub master_off()        { server()->{master} = 'off' }
sub html_dir()          { return server()->{root} . '/html' }
sub server_root()       { return server()->{root} }
sub server_port()       { server()->{port} = shift if @_;
                          return server()->{port} }
sub add_block_preprocessor(&) { push @Preprocessors, shift }
sub bail_out(@)         { Test::More::BAIL_OUT(join '', @_) }

END {
    my $rc = $?;
    server()->stop;
    $? = $rc;
}


sub run_tests() {
    my @blocks = Test::Base::blocks();
    my @only = grep { defined $_->ONLY } @blocks;

    for my $block (@only ? @only : @blocks) {
        next if defined $block->SKIP;
        $_->($block) for @Preprocessors;
        check_sections($block);
        run_block($block) for 1 .. $Repeat;
        last if defined $block->LAST;
    }
}


sub check_sections($) {
    my $block = shift;

    for my $name (@{ $block->{_section_order}[0] || [] }) {
        bail_out($block->name . ": no such section: $name")
            unless $Known{$name};
    }
}


sub run_block($) {
    my $block = shift;
    my $name = $block->name;

    SKIP: {
        my ($count, $why) = skip_reason($block);
        skip("$name - $why", $count) if $count;

        my %conf = map { $_ => scalar $block->$_ }
            qw(main_config http_config config user_files log_level http2);

        unless (!defined $block->must_die && server()->reuse(%conf)) {
            server()->configure(%conf);
            my ($rc, $stderr) = server()->start;

            if (defined $block->must_die) {
                check_death($block, $rc, $stderr);
                return;
            }

            bail_out("$name: nginx did not start: $stderr") if $rc;
        }

        run_requests($block);

        if (defined $block->shutdown_error_log
            || defined $block->no_shutdown_error_log)
        {
            server()->stop;
            check_patterns($block, scalar $block->shutdown_error_log,
                           scalar $block->no_shutdown_error_log);
        }
    }
}


# "5: < 1.23.0" or "5: condition": how many assertions to leave out, and why.
sub skip_reason($) {
    my $block = shift;

    if (defined(my $spec = $block->skip_nginx)) {
        my ($count, $op, $version)
            = $spec =~ /^\s*(\d+)\s*:\s*(<=?|>=?)\s*([\d.]+)/
            or bail_out($block->name . ": bad skip_nginx: $spec");
        my $cmp = server()->compare_version($version);

        if (   ($op eq '<' && $cmp < 0) || ($op eq '<=' && $cmp <= 0)
            || ($op eq '>' && $cmp > 0) || ($op eq '>=' && $cmp >= 0))
        {
            return ($count, "nginx $op $version");
        }
    }

    if (defined(my $spec = $block->skip_eval)) {
        my ($count, $code) = $spec =~ /^\s*(\d+)\s*:\s*(.+)/s
            or bail_out($block->name . ": bad skip_eval: $spec");
        my $true = eval $code;
        bail_out($block->name . ": skip_eval: $@") if $@;
        return ($count, 'skip_eval') if $true;
    }

    return (0, '');
}


sub check_death($$$) {
    my ($block, $rc, $stderr) = @_;
    my $want = $block->must_die;

    if ($want =~ /^\s*(\d+)\s*$/) {
        is($rc, $1, $block->name . ' - dies with the expected exit code');
    } else {
        isnt($rc, 0, $block->name . ' - dies as expected');
    }

    # before its log is open, nginx complains on stderr alone
    server()->append_log($stderr);
    check_log($block);
    server()->stop;
}


sub run_requests($) {
    my $block = shift;
    my $name = $block->name;
    my @requests = requests_of($block);
    my $limit = seconds(scalar $block->timeout) // $Timeout;
    my $total = 0;
    my $done = 0;

    $total += $_->{responses} for @requests;

    for my $request (@requests) {
        my ($raw, $error) = $request->{curl}
            ? curl($request, server()->{port}, $limit)
            : exchange($request, server()->{port}, $limit);

        if ($error && !defined $block->abort && !defined $block->ignore_response)
        {
            fail("$name - $error");
        }

        for (1 .. $request->{responses}) {
            unless (defined $block->ignore_response) {
                check_response($block, take_response(\$raw, $request->{head}),
                               $done, $total);
            }
            sleep(seconds(scalar $block->wait)) if defined $block->wait;
            check_log($block);
            $done++;
        }
    }
}


sub requests_of($) {
    my $block = shift;
    my $expand = sub { server()->expand(shift) };

    if (defined(my $raw = $block->raw_request)) {
        my @packets = ref $raw ? @$raw : ($raw);
        return raw_request(\@packets, seconds(
            scalar $block->raw_request_middle_delay));
    }

    my $headers = $block->more_headers // '';

    if (defined(my $list = $block->pipelined_requests)) {
        my $n = 0;
        return pipeline(map {
            build_request($expand->($_), nth($headers, $n++), $n == @$list)
        } @$list);
    }

    my $request = $block->request;
    my @list = ref $request eq 'ARRAY' ? @$request
        : ($request // bail_out($block->name . ': no request'));
    my $n = 0;

    return map {
        my $built = build_request(ref $_ ? $_ : $expand->($_),
                                  nth($headers, $n++), 1);
        $built->{curl} = defined $block->http2;
        $built;
    } @list;
}


# A check that is an array has one entry for each response.
sub nth($$) {
    my ($value, $i) = @_;

    return ref $value eq 'ARRAY' ? $value->[$i] : $value;
}


sub seconds($) {
    my $text = shift;

    return undef unless defined $text;
    return $1 / 1000 if $text =~ /^\s*([\d.]+)\s*ms\s*$/;
    return $1 if $text =~ /^\s*([\d.]+)\s*s?\s*$/;
    bail_out("no time: $text");
}


sub check_response($$$$) {
    my ($block, $response, $i, $total) = @_;
    my $name = $block->name . ($total > 1 ? " - response $i" : '');

    my $expected = sub {
        my $section = shift;
        my $value = $block->$section;
        bail_out("$name: $section must be an array for $total requests")
            if defined $value && $total > 1 && ref $value ne 'ARRAY';
        return nth($value, $i);
    };

    check_status($name, $response, $expected);
    check_headers($name, $response, $expected);
    check_body($name, $response, $expected);
}


sub check_status($$$) {
    my ($name, $response, $expected) = @_;

    if (defined(my $like = $expected->('error_code_like'))) {
        like($response->{code}, qr/$like/sm, "$name - status code");
        return;
    }

    my $want = $expected->('error_code') // 200;
    $want =~ s/\s+//g;
    is($response->{code}, $want, "$name - status code");
}


sub check_headers($$$) {
    my ($name, $response, $expected) = @_;

    if (defined(my $like = $expected->('raw_response_headers_like'))) {
        like($response->{raw_headers}, qr/$like/s, "$name - raw headers like");
    }

    if (defined(my $unlike = $expected->('raw_response_headers_unlike'))) {
        unlike($response->{raw_headers}, qr/$unlike/s,
               "$name - raw headers unlike");
    }

    if (defined(my $headers = $expected->('response_headers'))) {
        for my $line (split /\n+/, $headers) {
            if ($line =~ /^\s*!\s*(\S+)/) {
                is(header($response, $1), undef, "$name - no header $1");

            } elsif (my ($key, $value) = $line =~ /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/) {
                is(header($response, $key) // '', server()->expand($value),
                   "$name - header $key");
            }
        }

    } elsif (defined($headers = $expected->('response_headers_like'))) {
        for my $line (split /\n+/, $headers) {
            my ($key, $value) = $line =~ /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/
                or next;
            like(header($response, $key) // '', qr/^$value$/,
                 "$name - header $key like");
        }
    }
}


sub check_body($$$) {
    my ($name, $response, $expected) = @_;

    if (defined(my $body = $expected->('response_body'))) {
        if (ref $body eq 'Regexp') {
            like($response->{body}, $body, "$name - response body");
        } else {
            is($response->{body}, server()->expand($body),
               "$name - response body");
        }

    } elsif (defined(my $like = $expected->('response_body_like'))) {
        like($response->{body}, qr/$like/s, "$name - response body like");

    } elsif (defined(my $unlike = $expected->('response_body_unlike'))) {
        unlike($response->{body}, qr/$unlike/s, "$name - response body unlike");
    }
}


sub check_log($) {
    my $block = shift;

    check_patterns($block, scalar $block->error_log,
                   scalar $block->no_error_log);

    if (defined(my $pattern = $block->grep_error_log)) {
        my $re = ref $pattern ? $pattern : qr/\Q$pattern\E/;
        my $got = join '', map { /$re/ ? "$&\n" : () } server()->log_lines;
        my $want = $block->grep_error_log_out // '';

        if (ref $want eq 'Regexp') {
            like($got, $want, $block->name . ' - grep_error_log_out');
        } else {
            is($got, server()->expand($want),
               $block->name . ' - grep_error_log_out');
        }
    }

    server()->mark_log;
}


sub check_patterns($$$) {
    my ($block, $wanted, $unwanted) = @_;
    my $name = $block->name;

    for my $pattern (patterns($wanted)) {
        my $end = time + 1;
        my $hit;

        # the answer may be here before a worker's last line is
        until (($hit = matches($pattern)) || time > $end) {
            sleep(0.02);
        }

        ok($hit, "$name - error.log has \"$pattern\"");
    }

    for my $pattern (patterns($unwanted)) {
        my ($line) = matches($pattern);
        ok(!defined $line, "$name - error.log lacks \"$pattern\"")
            or diag($line);
    }
}


sub patterns($) {
    my $value = shift;

    return () unless defined $value;
    return grep { defined } @$value if ref $value eq 'ARRAY';
    return ($value) if ref $value;
    return grep { length } split /\n+/, server()->expand($value);
}


sub matches($) {
    my $pattern = shift;

    return grep { ref $pattern ? /$pattern/ : index($_, $pattern) >= 0 }
           server()->log_lines;
}

1;
